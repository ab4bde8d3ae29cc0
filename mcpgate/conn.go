package mcpgate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/stopgate/stopgate/mcpgate/link"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// conn is one client's connection to one server. It is opened when it is first needed
// and again, after a pause that grows, when it failed.
type conn struct {
	p      *peer
	server *Server
	tools  catalog

	opening sync.Mutex // one attempt at a time

	mu      sync.Mutex
	link    link.Link
	last    int64 // of our ids towards the server
	version string
	failed  time.Time
	pause   time.Duration
	closed  bool
	began   time.Time                // of link
	calls   map[jsonrpc.ID]*exchange // by our id
	stale   map[string]bool          // lists that the client knows to have changed and did not ask for since
	// entering gives the client's first introduction up; nil where none is under way.
	entering context.CancelCauseFunc
}

func newConn(p *peer, s *Server) *conn {
	return &conn{p: p, server: s, calls: map[jsonrpc.ID]*exchange{}, stale: map[string]bool{}}
}

// Pauses before a server that failed is started again.
const (
	firstPause = 500 * time.Millisecond
	longPause  = 30 * time.Second
)

// errUnreachable is why a server is not asked.
var errUnreachable = errors.New("mcpgate: the server cannot be reached")

// open returns the link, opening it if it must be.
func (c *conn) open(ctx context.Context) (link.Link, error) {
	c.opening.Lock()
	defer c.opening.Unlock()
	if l, err := c.current(); l != nil || err != nil {
		return l, err
	}
	l, err := c.server.Open(context.WithoutCancel(ctx), link.Events{Stray: func(m *jsonrpc.Message) { c.incoming(m, nil) }, Noise: c.noise})
	if err != nil {
		c.lost()
		c.p.g.log.Warn("a server cannot be reached", "server", c.name(), "error", err)
		return nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	if err = c.greet(ctx, l); err == nil && c.take(l) {
		return l, nil
	}
	c.lost()
	c.p.g.work.Go(func() { _ = l.Close() })
	c.p.g.log.Warn("a server does not take up its work again", "server", c.name(), "error", err)
	return nil, errUnreachable
}

// current is the link, if it lives; an error if it is too early for another one.
func (c *conn) current() (link.Link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		select {
		case <-c.link.Done():
			c.gone()
		default:
			return c.link, nil
		}
	}
	if c.closed || time.Since(c.failed) < c.pause {
		return nil, errUnreachable
	}
	return nil, nil
}

// take makes a link the one that requests go to.
func (c *conn) take(l link.Link) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.link, c.began = l, time.Now()
	}
	return !c.closed
}

// lost notes that there is no link.
func (c *conn) lost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone()
}

// gone is lost with c.mu held.
func (c *conn) gone() {
	c.over("unreachable")
	c.link, c.failed = nil, time.Now()
	c.pause = min(max(2*c.pause, firstPause), longPause)
	c.tools.forget()
}

// over tells of the session with the server, if there is one: the last revision has
// none. c.mu is held.
func (c *conn) over(failure string) {
	if c.link == nil || c.version == "" {
		return
	}
	s := Session{Outgoing: true, Version: c.version, Began: c.began, Failure: failure}
	if p, ok := c.link.(link.Placed); ok {
		s.Transport = p.Place().Transport
	}
	c.p.g.over(s)
}

func (c *conn) noise(what string) { c.p.g.log.Warn("from a server", "server", c.name(), "what", what) }

// name is the server in logs.
func (c *conn) name() string {
	if c.server.ID != "" {
		return string(c.server.ID)
	}
	return c.server.Identity
}

// nextID takes one of our ids; c.mu is held.
func (c *conn) nextID() jsonrpc.ID {
	c.last++
	return jsonrpc.ID(strconv.FormatInt(c.last, 10))
}

// outgoing is a request to a server.
type outgoing struct {
	x       *exchange // whose request it is; nil for the gate's own
	method  string
	about   Observed // what there is to observe beside the method
	seen    *observation
	text    func(id jsonrpc.ID, seen *observation) ([]byte, error)
	version string
	headers map[string]string
}

// request sends a request and waits for the response. A server that says nothing for
// too long has failed.
func (c *conn) request(ctx context.Context, o outgoing) (r link.Reply, err error) {
	if c.p.g.observer != nil {
		o.about.Outgoing, o.about.Method, o.about.Server = true, o.method, c.name()
		ctx, o.seen = c.p.g.observed(ctx, o.about)
		defer func() { o.seen.replied(r, err) }()
	}
	if c.isEntering() {
		return link.Reply{}, errUnreachable
	}
	l, err := c.open(ctx)
	if err != nil {
		return link.Reply{}, err
	}
	return c.ask(ctx, l, o)
}

// isEntering reports whether the client's first introduction is under way.
func (c *conn) isEntering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entering != nil
}

// giveUp ends the client's first introduction, if it is under way.
func (c *conn) giveUp(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entering != nil {
		c.entering(why)
	}
}

// errSilent is why a request ended that a server did not answer.
var errSilent = errors.New("mcpgate: the server does not answer")

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
	patience := time.AfterFunc(c.p.g.set.Timeout, func() { cancel(errSilent) })
	defer patience.Stop()
	call := &link.Call{Text: text, ID: id, Method: o.method, Version: version, Headers: maps.Clone(o.headers)}
	if o.method == "subscriptions/listen" {
		patience.Stop()
	}
	call.On = func(m *jsonrpc.Message) {
		if o.method != "subscriptions/listen" {
			patience.Reset(c.p.g.set.Timeout)
		}
		c.incoming(m, o.x)
	}
	return l.Call(ctx, call)
}

// send sends a notification or a response, if the server is there.
func (c *conn) send(ctx context.Context, method string, text []byte) {
	c.mu.Lock()
	l, version := c.link, c.version
	if c.entering != nil {
		l = nil // it is told when it is in
	}
	c.mu.Unlock()
	if l == nil {
		return
	}
	if err := l.Send(ctx, &link.Call{Text: text, Method: method, Version: version}); err != nil {
		c.p.g.log.Warn("a message did not reach a server", "server", c.name(), "method", method, "error", err)
	}
}

// exchangeOf finds the request of the client that one of our ids stands for.
func (c *conn) exchangeOf(id jsonrpc.ID) *exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[id]
}

func (c *conn) close() {
	c.giveUp(errCancelled)
	c.mu.Lock()
	l := c.link
	c.over("")
	c.link, c.closed = nil, true
	c.mu.Unlock()
	if l != nil {
		if err := l.Close(); err != nil {
			c.p.g.log.Warn("a server did not end well", "server", c.name(), "error", err)
		}
	}
}
