package servers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/tools"
	"github.com/stopgate/stopgate/internal/mcp/link"
)

// Default timeouts.
const (
	DefaultStart   = time.Minute      // until the tools of a server are known
	DefaultTimeout = 10 * time.Minute // of a call without progress
)

// Server is one MCP server.
type Server struct {
	// ID is its name; its tools are named ID__TOOL. It matches [a-z0-9-]{1,32}, so the
	// first "__" ends it (G3).
	ID stopgate.ServerID
	// Identity identifies the server in the pins.
	Identity string
	// Open connects to the server. It is called again after a failure.
	Open func(ctx context.Context, e link.Events) (link.Link, error)
	// LastWords returns the last output of the server outside the protocol, to explain
	// failures; it may be nil.
	LastWords func() string
}

// Pins stores the accepted definitions of tools.
type Pins interface {
	// Check reports whether a definition is the accepted one. The first definition of a
	// tool is accepted. definition is canonical JSON.
	Check(server string, tool stopgate.ToolName, hash string, definition []byte) (same bool, err error)
}

// Options configure a set. Servers are required.
type Options struct {
	Servers []Server
	Pins    Pins          // nil disables pinning
	Start   time.Duration // 0 for DefaultStart
	Timeout time.Duration // 0 for DefaultTimeout
	Output  int           // maximum bytes of a result; 0 for tools.DefaultOutput
	Version string        // version of stopgate, sent to servers
	// Notice receives messages about servers for the user; it may be nil.
	Notice func(text string)
}

// Set provides the tools of all servers. It is safe for concurrent use.
type Set struct {
	o    Options
	list []*server
	work sync.WaitGroup
}

var _ agent.Runner = (*Set)(nil)

// New starts the servers without waiting for them.
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
			// The caller that needs the tools waits for it and reports the result.
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

// Definitions implements [agent.Runner]. Tools that changed since they were accepted are
// included as refused.
func (s *Set) Definitions(ctx context.Context) (list []agent.Tool) {
	s.wait(ctx)
	for _, one := range s.list {
		list = append(list, one.state().Tools...)
	}
	return list
}

// wait updates the tools of all servers.
func (s *Set) wait(ctx context.Context) {
	var all sync.WaitGroup
	for _, one := range s.list {
		all.Go(func() {
			word := time.AfterFunc(slowStart, func() { s.o.Notice(fmt.Sprintf("waiting for the MCP server %s", one.at.ID)) })
			defer word.Stop()
			_ = one.ready(ctx)
		})
	}
	all.Wait()
}

// slowStart is the delay before the agent tells the user which server it waits for.
const slowStart = 2 * time.Second

// split returns the server of a tool, and the tool's name there.
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

// Preview implements [agent.Runner]: the effect of a server's tool is unknown.
func (s *Set) Preview(stopgate.ToolName, string) string { return "" }

// Run implements [agent.Runner].
func (s *Set) Run(ctx context.Context, task agent.Task) agent.Result {
	one, name := s.split(task.Tool)
	if one == nil {
		return failed(fmt.Errorf("there is no tool %q", task.Tool))
	}
	if task.Access != nil {
		return failed(fmt.Errorf("access: the policy limits the files that %s may touch, and stopgate cannot hold an MCP server to that: it did not run", task.Tool))
	}
	r, err := one.call(ctx, name, task)
	if err != nil {
		return failed(err)
	}
	r.Text = tools.Bounded(r.Text, s.o.Output)
	return r
}

func failed(err error) agent.Result { return agent.Result{Text: "error: " + err.Error(), Failed: true} }

// State is the state of one server.
type State struct {
	ID      stopgate.ServerID
	Err     error // why it is not available; nil if it is
	Tools   []agent.Tool
	LeftOut []string // tools that cannot be called, with reasons
}

// States returns the state of all servers. It does not block.
func (s *Set) States() (list []State) {
	for _, one := range s.list {
		list = append(list, one.state())
	}
	return list
}

// Close closes the servers and waits until their resources are released.
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
