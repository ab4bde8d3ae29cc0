package servers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/mcp/definition"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/mirror"
)

// server is one server, running or not.
type server struct {
	set     *Set
	at      Server
	turn    chan struct{} // serialises attempts to connect
	closing chan struct{}

	mu        sync.Mutex
	live      *connection // nil if not connected
	tools     []*tool     // remain known while the server is not running
	leftOut   []string
	stale     bool // the server reported a changed list
	err       error
	failed    time.Time
	pause     time.Duration
	announced bool // the user was notified that the server is available
	closed    bool
}

// tool is one tool of a server.
type tool struct {
	*definition.Tool // as the model sees it
	hash             string
	changed          bool          // the definition is not the accepted one
	marks            mirror.Params // arguments that are mirrored in headers
}

// connection is an open connection to a server.
type connection struct {
	link.Link
	mu      sync.Mutex
	last    int64
	version string
}

// id returns a new request id, which is also the progress token.
func (c *connection) id() jsonrpc.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return jsonrpc.ID(strconv.FormatInt(c.last, 10))
}

// Delays before a failed server is restarted.
const (
	firstPause = 500 * time.Millisecond
	longPause  = 30 * time.Second
)

var (
	errClosed   = errors.New("the agent ends")
	errStarting = errors.New("it is being started")
	errStart    = errors.New("it does not say what its tools are: its time was over")
)

// qualifiedName returns a tool's name for the policy and the model (S39).
func (s *server) qualifiedName(name stopgate.ToolName) stopgate.ToolName {
	return stopgate.ToolName(s.at.ID) + "__" + name
}

// ready returns when the current list of tools is known, or an error.
func (s *server) ready(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.closing:
		return errClosed
	}
	live, err := s.current()
	if err != nil || live != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.set.o.Start, errStart)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	s.set.work.Go(func() {
		select {
		case <-s.closing:
			end(errClosed)
		case <-stop:
		}
	})
	if live, err = s.open(ctx); err == nil {
		err = s.learn(ctx, live)
	}
	if errors.Is(err, link.ErrDead) {
		_ = live.Close() // so that its last output is available
		err = startFailure(err)
	}
	return s.settle(live, err)
}

// current returns the connection if no action is needed, and an error if it is too early to
// reconnect. The caller holds the turn.
func (s *server) current() (*connection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if s.live != nil {
		select {
		case <-s.live.Done():
			// The server worked before, so it is restarted immediately.
			s.live, s.err = nil, errGone
		default:
			if !s.stale {
				return s.live, nil
			}
			return nil, nil
		}
	}
	if s.err != nil && time.Since(s.failed) < s.pause {
		return nil, s.err
	}
	return nil, nil
}

// Reasons for a restart.
var (
	errGone  = errors.New("it ended")
	errEarly = errors.New("it ended before it said what its tools are")
)

// startFailure describes why a server exited before it was ready.
func startFailure(err error) error {
	if _, why, ok := strings.Cut(err.Error(), link.ErrDead.Error()+": "); ok {
		return errors.New("it cannot be reached: " + why)
	}
	return errEarly
}

// lost records a failure; s.mu is locked.
func (s *server) lost(err error) {
	s.err, s.failed = err, time.Now()
	s.pause = min(max(2*s.pause, firstPause), longPause)
}

// open returns the connection and opens it if necessary.
func (s *server) open(ctx context.Context) (*connection, error) {
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	if live != nil {
		return live, nil
	}
	live = new(connection)
	opened := make(chan struct{})
	l, err := s.at.Open(context.WithoutCancel(ctx), link.Events{Unsolicited: func(m *jsonrpc.Message) {
		<-opened
		s.handle(live, m)
	}})
	live.Link = l
	close(opened)
	if err != nil {
		return nil, err
	}
	return live, live.initialize(ctx, s.set.o.Version)
}

// drop closes a connection.
func (s *server) drop(live *connection) {
	if live != nil && live.Link != nil {
		s.set.work.Go(func() { _ = live.Close() })
	}
}

// settle stores the result of an attempt and reports changes to the user.
func (s *server) settle(live *connection, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.err
	if errors.Is(err, errClosed) || s.closed {
		s.drop(live)
		return errClosed
	}
	if err != nil {
		s.drop(live)
		s.live = nil
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			err = errStart
		}
		s.lost(err)
		if was == nil || was.Error() != err.Error() {
			s.set.o.Notice(s.describe(err))
		}
		return err
	}
	s.live, s.err, s.pause = live, nil, 0
	switch n := len(s.tools); {
	case was != nil:
		s.set.o.Notice(fmt.Sprintf("MCP server %s is there again", s.at.ID))
	case !s.announced && n == 1:
		s.set.o.Notice(fmt.Sprintf("MCP server %s: 1 tool", s.at.ID))
	case !s.announced:
		s.set.o.Notice(fmt.Sprintf("MCP server %s: %d tools", s.at.ID, n))
	}
	s.announced = true
	return nil
}

// describe formats a failure for the user, with the last output of the server.
func (s *server) describe(err error) string {
	text := fmt.Sprintf("MCP server %s: %s", s.at.ID, strings.TrimPrefix(err.Error(), "link: "))
	if s.at.LastWords != nil {
		if words := s.at.LastWords(); words != "" {
			text += "; it said last: " + words
		}
	}
	return text
}

// state returns the current state, with the tools as last listed.
func (s *server) state() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := State{ID: s.at.ID, Err: s.err, LeftOut: s.leftOut}
	if st.Err == nil && s.live == nil {
		st.Err = errStarting
	}
	transport := ""
	if s.live != nil {
		if at, ok := s.live.Link.(link.Traced); ok {
			transport = at.ConnInfo().Transport
		}
	}
	for _, t := range s.tools {
		d := agent.Tool{ToolDefinition: t.ToolDefinition, Server: s.at.ID, Transport: transport}
		d.Name = s.qualifiedName(t.Name)
		if t.changed {
			d.Refused = stopgate.CodeToolDefinitionChanged
		}
		st.Tools = append(st.Tools, d)
	}
	return st
}

func (s *server) close() error {
	s.mu.Lock()
	live := s.live
	first := !s.closed
	s.live, s.closed = nil, true
	s.mu.Unlock()
	if first {
		close(s.closing)
	}
	if live == nil {
		return nil
	}
	return live.Close()
}

// handle handles messages that belong to no request. It must not block, because responses
// wait for it.
func (s *server) handle(live *connection, m *jsonrpc.Message) {
	switch {
	case m.Kind == jsonrpc.Request:
		text := jsonrpc.AppendError(nil, m.ID, jsonrpc.MethodNotFound, "this client serves nothing", nil)
		if m.Method == "ping" {
			text = jsonrpc.AppendResult(nil, m.ID, []byte("{}"))
		}
		if live.Link != nil {
			s.set.work.Go(func() { _ = live.Send(context.Background(), &link.Call{Text: text, Version: live.revision()}) })
		}
	case m.Method == "notifications/tools/list_changed":
		s.mu.Lock()
		s.stale = true
		s.mu.Unlock()
	}
}
