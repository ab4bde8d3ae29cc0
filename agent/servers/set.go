package servers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/agent"
	"github.com/stopgate/stopgate/agent/tools"
	"github.com/stopgate/stopgate/mcpgate/link"
)

// The limits where Options leave them open.
const (
	DefaultStart   = time.Minute      // that a server may take until its tools are known
	DefaultTimeout = 10 * time.Minute // that a call may take without a word
)

// Server is one MCP server.
type Server struct {
	// ID is its name: its tools are ID__TOOL. It is [a-z0-9-]{1,32}, so that the first
	// "__" ends it (THREATS G3).
	ID stopgate.ServerID
	// Identity says which server this is, for pins.
	Identity string
	// Open connects to the server; it is called again after a failure.
	Open func(ctx context.Context, e link.Events) (link.Link, error)
	// LastWords are what the server said last beside the protocol, for people who want to
	// know why it failed; nil where nobody listens.
	LastWords func() string
}

// Pins remember which definition of a tool is the accepted one (WIRE 8.4).
type Pins interface {
	// Check compares a definition with the accepted one and reports whether it is the
	// same. The first definition of a tool is accepted. definition is canonical JSON.
	Check(server string, tool stopgate.ToolName, hash string, definition []byte) (same bool, err error)
}

// Options make a set. Servers are required.
type Options struct {
	Servers []Server
	Pins    Pins          // nil: definitions are not pinned
	Start   time.Duration // 0 for DefaultStart
	Timeout time.Duration // 0 for DefaultTimeout
	Output  int           // bytes of a result; 0 for tools.DefaultOutput
	Version string        // of stopgate, for servers
	// Notice tells a person what happens to servers; nil for nobody.
	Notice func(text string)
}

// Set are the tools of all servers. It is safe for concurrent use.
type Set struct {
	o    Options
	list []*server
	work sync.WaitGroup
}

var _ agent.Runner = (*Set)(nil)

// New starts the servers and does not wait for them.
func New(o Options) (*Set, error) {
	if o.Start <= 0 {
		o.Start = DefaultStart
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Output <= 0 {
		o.Output = tools.DefaultOutput
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	s := &Set{o: o}
	for _, at := range o.Servers {
		if at.ID == "" || strings.Contains(string(at.ID), "_") || at.Open == nil {
			return nil, fmt.Errorf("servers: %q cannot be opened", at.ID)
		}
		if s.find(at.ID) != nil {
			return nil, fmt.Errorf("servers: two servers are named %q", at.ID)
		}
		s.list = append(s.list, &server{set: s, at: at, turn: make(chan struct{}, 1), closing: make(chan struct{})})
	}
	for _, one := range s.list {
		s.work.Go(func() {
			// Who asks for the tools waits for it, and tells what came of it.
			_ = one.ready(context.Background())
		})
	}
	return s, nil
}

func (s *Set) find(id stopgate.ServerID) *server {
	for _, one := range s.list {
		if one.at.ID == id {
			return one
		}
	}
	return nil
}

// Definitions implements [agent.Runner]: tools that changed since they were accepted
// are there as refused.
func (s *Set) Definitions(ctx context.Context) (list []agent.Tool) {
	s.wait(ctx)
	for _, one := range s.list {
		list = append(list, one.state().Tools...)
	}
	return list
}

// wait brings every server's tools up to date, or finds out that it cannot be had.
func (s *Set) wait(ctx context.Context) {
	var all sync.WaitGroup
	for _, one := range s.list {
		all.Go(func() {
			word := time.AfterFunc(patience, func() { s.o.Notice(fmt.Sprintf("waiting for the MCP server %s", one.at.ID)) })
			defer word.Stop()
			_ = one.ready(ctx)
		})
	}
	all.Wait()
}

// patience is how long a person waits for a server before he is told why.
const patience = 2 * time.Second

// split finds the server of a tool, and the tool's name there.
func (s *Set) split(name stopgate.ToolName) (*server, stopgate.ToolName) {
	id, inner, ok := strings.Cut(string(name), "__")
	if !ok {
		return nil, ""
	}
	return s.find(stopgate.ServerID(id)), stopgate.ToolName(inner)
}

// Has implements [agent.Runner].
func (s *Set) Has(name stopgate.ToolName) bool {
	one, _ := s.split(name)
	return one != nil
}

// Preview implements [agent.Runner]: nobody knows what a server would change.
func (s *Set) Preview(stopgate.ToolName, string) string { return "" }

// Run implements [agent.Runner].
func (s *Set) Run(ctx context.Context, task agent.Task) agent.Result {
	one, name := s.split(task.Tool)
	if one == nil {
		return failed(fmt.Errorf("there is no tool %q", task.Tool))
	}
	r, err := one.call(ctx, name, task)
	if err != nil {
		return failed(err)
	}
	r.Text = tools.Bounded(r.Text, s.o.Output)
	return r
}

func failed(err error) agent.Result { return agent.Result{Text: "error: " + err.Error(), Failed: true} }

// State is what is known of one server.
type State struct {
	ID      stopgate.ServerID
	Err     error // why it is not there; nil where it is
	Tools   []agent.Tool
	LeftOut []string // tools that nobody can call, and why
}

// States says what is known of the servers now. It waits for nothing.
func (s *Set) States() (list []State) {
	for _, one := range s.list {
		list = append(list, one.state())
	}
	return list
}

// Close ends the servers and waits until nothing of them is left.
func (s *Set) Close() error {
	errs := make([]error, len(s.list))
	var all sync.WaitGroup
	for i, one := range s.list {
		all.Go(func() { errs[i] = one.close() })
	}
	all.Wait()
	s.work.Wait()
	return errors.Join(errs...)
}
