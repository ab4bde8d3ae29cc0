package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/agent"
	"github.com/stopgate/stopgate/jsonstream"
)

// The limits where Options leave them open.
const (
	DefaultTimeout = 2 * time.Minute  // of a command
	MaxTimeout     = 30 * time.Minute // that a call may ask for
	DefaultOutput  = 64 << 10         // bytes of a result
)

// Options make a set of tools.
type Options struct {
	// Dir is the working tree.
	Dir string
	// Readable reports whether the policy lets a file be read by this name, relative to
	// Dir. What is not readable is left out of lists of matches. Nil: everything is.
	Readable func(name string) bool
	// Local are commands that the policy file declares.
	Local   []Local
	Timeout time.Duration // of commands that do not say; 0 for DefaultTimeout
	Output  int           // bytes of a result; 0 for DefaultOutput
	// Hold is told of the process group of every command, and what it returns of its end:
	// so that somebody can end it who lives longer. nil for nobody.
	Hold func(group int) (release func())
	// Env is the environment of commands; nil for none.
	Env []string
}

// Set is a set of tools. It is safe for concurrent use.
type Set struct {
	o     Options
	dir   string
	root  *os.Root
	tools []tool
}

var _ agent.Runner = (*Set)(nil)

// tool is one tool.
type tool struct {
	definition stopgate.ToolDefinition
	run        func(ctx context.Context, args jsonstream.Value) (agent.Result, error)
	preview    func(args jsonstream.Value) (string, error) // nil: shows nothing
}

// New opens the working tree.
func New(o Options) (*Set, error) {
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
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
	s := &Set{o: o, dir: dir, root: root}
	s.tools = append(s.files(), s.commands()...)
	for i, t := range s.tools {
		for _, other := range s.tools[:i] {
			if other.definition.Name == t.definition.Name {
				return nil, errors.Join(fmt.Errorf("two tools have the name %q", t.definition.Name), root.Close())
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
	r, err := t.run(ctx, value)
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
	text, err := t.preview(value)
	if err != nil {
		return "" // the call will say why
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

// read reads arguments: the gate wrote them, so they are one strict object.
func read(args string) (jsonstream.Value, error) {
	v, err := jsonstream.Parse([]byte(args), jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return v, fmt.Errorf("read the arguments: %w", err)
	}
	return v, nil
}

func failed(err error) agent.Result { return agent.Result{Text: "error: " + err.Error(), Failed: true} }

// text is a string parameter; one that has to be there and is not is an error.
func text(args jsonstream.Value, name string, required bool) (string, error) {
	v, ok := args.Get(name)
	switch {
	case !ok && !required:
		return "", nil
	case !ok:
		return "", fmt.Errorf("%s is missing", name)
	case v.Kind() != jsonstream.String:
		return "", fmt.Errorf("%s is no string", name)
	}
	return v.Text(), nil
}

// whole is an integer parameter, 0 if it is not there.
func whole(args jsonstream.Value, name string) (int, error) {
	v, ok := args.Get(name)
	if !ok {
		return 0, nil
	}
	d, ok := v.Decimal()
	n, fits := d.Int64()
	if !ok || !fits || n < 0 || n > 1<<31 {
		return 0, fmt.Errorf("%s is no whole number from 0 on", name)
	}
	return int(n), nil
}
