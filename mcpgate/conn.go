package mcpgate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
)

// conn is one client's connection to one server. It is opened on first use, and again after
// a failure with increasing delays.
type conn struct {
	p      *client
	server *Server
	tools  catalog

	opening sync.Mutex // serialises attempts to connect

	mu         sync.Mutex
	link       link.Link
	lastID     int64 // last request id towards the server
	version    string
	failed     time.Time
	retryDelay time.Duration
	closed     bool
	began      time.Time               // when link was opened
	calls      map[jsonrpc.ID]*request // by request id towards the server
	stale      map[string]bool         // lists that the client was notified about and has not requested since
	// cancelInit cancels the first initialize request; nil if none is running.
	cancelInit context.CancelCauseFunc
}

func newConn(p *client, s *Server) *conn {
	return &conn{p: p, server: s, calls: map[jsonrpc.ID]*request{}, stale: map[string]bool{}}
}

// Delays before a failed server is started again.
const (
	minRetryDelay = 500 * time.Millisecond
	maxRetryDelay = 30 * time.Second
)

// errUnreachable is the error of a request to a server without a connection.
var errUnreachable = errors.New("mcpgate: the server cannot be reached")

// open returns the link and opens it if necessary.
func (c *conn) open(ctx context.Context) (link.Link, error) {
	c.opening.Lock()
	defer c.opening.Unlock()
	if l, err := c.current(); l != nil || err != nil {
		return l, err
	}
	l, err := c.server.open(context.WithoutCancel(ctx), link.Events{Unsolicited: func(m *jsonrpc.Message) { c.handleMessage(m, nil) }, Dropped: c.logDropped})
	if err != nil {
		c.markFailed()
		c.p.g.log.Warn("connecting to a server failed", "server", c.name(), "error", err)
		return nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	if err = c.reinitialize(ctx, l); err == nil && c.setLink(l) {
		return l, nil
	}
	c.markFailed()
	c.p.g.work.Go(func() { _ = l.Close() })
	c.p.g.log.Warn("initializing a restarted server failed", "server", c.name(), "error", err)
	return nil, errUnreachable
}

// current returns the link if it is alive. It returns an error if it is too early to
// reconnect.
func (c *conn) current() (link.Link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		select {
		case <-c.link.Done():
			c.markFailedLocked()
		default:
			return c.link, nil
		}
	}
	if c.closed || time.Since(c.failed) < c.retryDelay {
		return nil, errUnreachable
	}
	return nil, nil
}

// setLink sets the link for requests. It returns false if the connection is closed.
func (c *conn) setLink(l link.Link) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.link, c.began = l, time.Now()
	}
	return !c.closed
}

// markFailed records that the link failed.
func (c *conn) markFailed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.markFailedLocked()
}

// markFailedLocked is markFailed with c.mu locked.
func (c *conn) markFailedLocked() {
	c.reportSession("unreachable")
	c.link, c.failed = nil, time.Now()
	c.retryDelay = min(max(2*c.retryDelay, minRetryDelay), maxRetryDelay)
	c.tools.clear()
}

// reportSession reports the end of the session with the server to the observer, if the
// revision has sessions. c.mu is locked.
func (c *conn) reportSession(failure string) {
	if c.link == nil || c.version == "" {
		return
	}
	s := Session{Outgoing: true, Version: c.version, Began: c.began, Failure: failure}
	if p, ok := c.link.(link.Traced); ok {
		s.Transport = p.ConnInfo().Transport
	}
	c.p.g.reportSession(s)
}

func (c *conn) logDropped(what string) {
	c.p.g.log.Warn("input from a server was dropped", "server", c.name(), "what", what)
}

// name returns the server's name for logs.
func (c *conn) name() string {
	if c.server.ID != "" {
		return string(c.server.ID)
	}
	return c.server.Identity
}

// nextID returns a new request id; c.mu is locked.
func (c *conn) nextID() jsonrpc.ID {
	c.lastID++
	return jsonrpc.ID(strconv.FormatInt(c.lastID, 10))
}

// outgoing is a request to a server.
type outgoing struct {
	x       *request // the client's request that caused it; nil if the gateway did
	method  string
	about   Observed // attributes for the observer
	seen    *observation
	text    func(id jsonrpc.ID, seen *observation) ([]byte, error)
	version string
	headers map[string]string
}

// request sends a request and waits for the response. It fails with errNoResponse if the
// server sends neither a response nor progress within the timeout.
func (c *conn) request(ctx context.Context, o outgoing) (r link.Reply, err error) {
	if c.p.g.observer != nil {
		o.about.Outgoing, o.about.Method, o.about.Server = true, o.method, c.name()
		ctx, o.seen = c.p.g.observe(ctx, o.about)
		defer func() { o.seen.endWithReply(r, err) }()
	}
	if c.initializing() {
		return link.Reply{}, errUnreachable
	}
	l, err := c.open(ctx)
	if err != nil {
		return link.Reply{}, err
	}
	return c.ask(ctx, l, o)
}

// initializing reports whether the first initialize request is running.
func (c *conn) initializing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancelInit != nil
}

// cancelInitialize cancels the first initialize request if it is running.
func (c *conn) cancelInitialize(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancelInit != nil {
		c.cancelInit(why)
	}
}

// errNoResponse is the error of a request that timed out.
var errNoResponse = errors.New("mcpgate: the server does not respond")

func (c *conn) ask(ctx context.Context, l link.Link, o outgoing) (link.Reply, error) {
	c.mu.Lock()
	id := c.nextID()
	if o.x != nil {
		c.calls[id] = o.x
	}
	version := c.version
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
	}()
	text, err := o.text(id, o.seen)
	if err != nil {
		return link.Reply{}, err
	}
	if o.version != "" {
		version = o.version
	}
	o.seen.sent(l, id, version)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(c.p.g.set.Timeout, func() { cancel(errNoResponse) })
	defer timer.Stop()
	call := &link.Call{Text: text, ID: id, Method: o.method, Version: version, Headers: maps.Clone(o.headers)}
	if o.method == "subscriptions/listen" {
		timer.Stop()
	}
	call.OnMessage = func(m *jsonrpc.Message) {
		if o.method != "subscriptions/listen" {
			timer.Reset(c.p.g.set.Timeout)
		}
		c.handleMessage(m, o.x)
	}
	return l.Call(ctx, call)
}

// send sends a notification or a response if the server is connected.
func (c *conn) send(ctx context.Context, method string, text []byte) {
	c.mu.Lock()
	l, version := c.link, c.version
	if c.cancelInit != nil {
		l = nil // the server receives it after initialization
	}
	c.mu.Unlock()
	if l == nil {
		return
	}
	if err := l.Send(ctx, &link.Call{Text: text, Method: method, Version: version}); err != nil {
		c.p.g.log.Warn("sending a message to a server failed", "server", c.name(), "method", method, "error", err)
	}
}

// requestByID returns the client's request that caused the request id towards the server.
func (c *conn) requestByID(id jsonrpc.ID) *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[id]
}

func (c *conn) close() {
	c.cancelInitialize(errCancelled)
	c.mu.Lock()
	l := c.link
	c.reportSession("")
	c.link, c.closed = nil, true
	c.mu.Unlock()
	if l != nil {
		if err := l.Close(); err != nil {
			c.p.g.log.Warn("closing the connection to a server failed", "server", c.name(), "error", err)
		}
	}
}
