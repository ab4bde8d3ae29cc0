package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/jsonstream"
)

// Defaults and limits.
const (
	DefaultTimeout = 2 * time.Minute  // of a command
	MaxTimeout     = 30 * time.Minute // maximum that a call can request
	DefaultOutput  = 64 << 10         // bytes of a result
)

// Options configure a set of tools.
type Options struct {
	// Dir is the working tree.
	Dir string
	// Readable reports whether the policy allows a file to be read, by its name relative to
	// Dir. Other files are omitted from search results. Nil allows all files.
	Readable func(name string) bool
	// Local are the commands that the policy file declares.
	Local   []Local
	Timeout time.Duration // of commands without a timeout; 0 for DefaultTimeout
	Output  int           // maximum bytes of a result; 0 for DefaultOutput
	// Hold, if not nil, is called with the process group of every command, so that another
	// process can end it. The function that it returns is called when the group has ended.
	Hold func(group int) (release func())
	// Env is the environment of commands.
	Env []string
}

// Set is a set of tools. It is safe for concurrent use.
type Set struct {
	o     Options
	dir   string // with links followed
	given string // as Options.Dir gives it
	root  *os.Root
	tools []tool
}

var _ agent.Runner = (*Set)(nil)

// tool is one tool.
type tool struct {
	definition stopgate.ToolDefinition
	run        func(v *view, ctx context.Context, args jsonstream.Value) (agent.Result, error)
	preview    func(v *view, args jsonstream.Value) (string, error) // may be nil
}

// New opens the working tree and returns its tools.
func New(o Options) (*Set, error) {
	given, err := filepath.Abs(o.Dir)
	dir := given
	if err == nil {
		dir, err = filepath.EvalSymlinks(given)
	}
	if err != nil {
		return nil, fmt.Errorf("open the working tree: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the working tree: %w", err)
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Output <= 0 {
		o.Output = DefaultOutput
	}
	if o.Hold == nil {
		o.Hold = func(int) func() { return func() {} }
	}
	if o.Readable == nil {
		o.Readable = func(string) bool { return true }
	}
	s := &Set{o: o, dir: dir, given: given, root: root}
	s.tools = append(s.files(), s.commands()...)
	for i, t := range s.tools {
		for _, other := range s.tools[:i] {
			if other.definition.Name == t.definition.Name {
				return nil, errors.Join(fmt.Errorf("duplicate tool name %q", t.definition.Name), root.Close())
			}
		}
	}
	return s, nil
}

// Close closes the working tree.
func (s *Set) Close() error { return s.root.Close() }

// Definitions implements [agent.Runner].
func (s *Set) Definitions(context.Context) []agent.Tool {
	var list []agent.Tool
	for _, t := range s.tools {
		list = append(list, agent.Tool{ToolDefinition: t.definition})
	}
	return list
}

// Has implements [agent.Runner].
func (s *Set) Has(tool stopgate.ToolName) bool { return s.find(tool) != nil }

// Run implements [agent.Runner].
func (s *Set) Run(ctx context.Context, call agent.Task) agent.Result {
	t := s.find(call.Tool)
	if t == nil {
		return failed(fmt.Errorf("there is no tool %q", call.Tool))
	}
	value, err := read(call.Args)
	if err != nil {
		return failed(err)
	}
	r, err := t.run(s.view(call), ctx, value)
	if err != nil {
		f := failed(err)
		f.Absent = errors.Is(err, os.ErrNotExist)
		return f
	}
	r.Text = Bounded(r.Text, s.o.Output)
	return r
}

// Preview implements [agent.Runner].
func (s *Set) Preview(name stopgate.ToolName, args string) string {
	t := s.find(name)
	if t == nil || t.preview == nil {
		return ""
	}
	value, err := read(args)
	if err != nil {
		return ""
	}
	text, err := t.preview(&view{Set: s, tool: name}, value)
	if err != nil {
		return "" // running the call returns the error
	}
	return text
}

func (s *Set) find(name stopgate.ToolName) *tool {
	for i := range s.tools {
		if s.tools[i].definition.Name == name {
			return &s.tools[i]
		}
	}
	return nil
}

// read parses arguments. The gate wrote them, so they are one strict object.
func read(args string) (jsonstream.Value, error) {
	v, err := jsonstream.Parse([]byte(args), jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return v, fmt.Errorf("read the arguments: %w", err)
	}
	return v, nil
}

func failed(err error) agent.Result { return agent.Result{Text: "error: " + err.Error(), Failed: true} }

// text returns a string parameter, and an error if it is required and missing.
func text(args jsonstream.Value, name string, required bool) (string, error) {
	v, ok := args.Get(name)
	switch {
	case !ok && !required:
		return "", nil
	case !ok:
		return "", fmt.Errorf("%s is missing", name)
	case v.Kind() != jsonstream.String:
		return "", fmt.Errorf("%s is not a string", name)
	}
	return v.Text(), nil
}

// whole returns an integer parameter, 0 if it is missing.
func whole(args jsonstream.Value, name string) (int, error) {
	v, ok := args.Get(name)
	if !ok {
		return 0, nil
	}
	d, ok := v.Decimal()
	n, fits := d.Int64()
	if !ok || !fits || n < 0 || n > 1<<31 {
		return 0, fmt.Errorf("%s is not an integer of 0 or more", name)
	}
	return int(n), nil
}
