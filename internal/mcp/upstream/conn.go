package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
)

// Options configure a [Conn].
type Options struct {
	Name    string // of the server, for logs
	Open    func(ctx context.Context, e link.Events) (link.Link, error)
	Timeout time.Duration // for a request without a response or another message of the server
	Log     *slog.Logger
	Work    *sync.WaitGroup // owns the goroutines that outlive a request
	// Incoming handles a message of the server that was not received on the stream of a request.
	Incoming func(m *jsonrpc.Message)
	// Handshake returns the client's initialize request, nil before the client has sent one, and its
	// notification. Both are repeated for a server that is connected again.
	Handshake func() (initialize *Call, initialized []byte)
	// Lost is called when the link is lost. The connection is locked.
	Lost func()
	// Ended reports the end of a session with the server. The connection is locked.
	Ended func(s Session)
}

// Session is an ended session with a server.
type Session struct {
	Version   string // of the protocol
	Transport string // "pipe" or "tcp"
	Began     time.Time
	Failure   string // "unreachable" if the server failed, "" otherwise
}

// Conn is one client's connection to one server. It is safe for concurrent use.
type Conn struct {
	Options

	opening sync.Mutex // serialises attempts to connect

	mu         sync.Mutex
	link       link.Link
	lastID     int64 // last request id towards the server
	version    string
	failed     time.Time
	retryDelay time.Duration
	closed     bool
	began      time.Time // when link was opened
	// cancelInit cancels the first initialize request; nil if none is running.
	cancelInit context.CancelCauseFunc
}

// New returns a connection that is not open yet.
func New(o Options) *Conn { return &Conn{Options: o} }

// Delays before a failed server is started again.
const (
	minRetryDelay = 500 * time.Millisecond
	maxRetryDelay = 30 * time.Second
)

// ErrUnreachable is the error of a request to a server without a connection.
var ErrUnreachable = errors.New("mcpgate: the server cannot be reached")

// open returns the link and opens it if necessary.
func (c *Conn) open(ctx context.Context) (link.Link, error) {
	c.opening.Lock()
	defer c.opening.Unlock()
	if l, err := c.current(); l != nil || err != nil {
		return l, err
	}
	l, err := c.Open(context.WithoutCancel(ctx), link.Events{Unsolicited: c.Incoming, Dropped: c.LogDropped})
	if err != nil {
		c.markFailed()
		c.Log.Warn("connecting to a server failed", "server", c.Name, "error", err)
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if err = c.reinitialize(ctx, l); err == nil && c.setLink(l) {
		return l, nil
	}
	c.markFailed()
	c.Work.Go(func() { _ = l.Close() })
	c.Log.Warn("initializing a restarted server failed", "server", c.Name, "error", err)
	return nil, ErrUnreachable
}

// current returns the link if it is alive. It returns an error if it is too early to
// reconnect.
func (c *Conn) current() (link.Link, error) {
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
		return nil, ErrUnreachable
	}
	return nil, nil
}

// setLink sets the link for requests. It returns false if the connection is closed.
func (c *Conn) setLink(l link.Link) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.link, c.began = l, time.Now()
	}
	return !c.closed
}

// markFailed records that the link failed.
func (c *Conn) markFailed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.markFailedLocked()
}

// markFailedLocked is markFailed with c.mu locked.
func (c *Conn) markFailedLocked() {
	c.reportSession("unreachable")
	c.link, c.failed = nil, time.Now()
	c.retryDelay = min(max(2*c.retryDelay, minRetryDelay), maxRetryDelay)
	c.Lost()
}

// reportSession reports the end of the session with the server to the observer, if the
// revision has sessions. c.mu is locked.
func (c *Conn) reportSession(failure string) {
	if c.link == nil || c.version == "" {
		return
	}
	s := Session{Version: c.version, Began: c.began, Failure: failure}
	if p, ok := c.link.(link.Traced); ok {
		s.Transport = p.ConnInfo().Transport
	}
	c.Ended(s)
}

// LogDropped logs that input from the server was dropped.
func (c *Conn) LogDropped(what string) {
	c.Log.Warn("input from a server was dropped", "server", c.Name, "what", what)
}

// nextID returns a new request id; c.mu is locked.
func (c *Conn) nextID() jsonrpc.ID {
	c.lastID++
	return jsonrpc.ID(strconv.FormatInt(c.lastID, 10))
}

// Call is a request to the server.
type Call struct {
	Method string
	// Text returns the message under the connection's request id.
	Text    func(id jsonrpc.ID) ([]byte, error)
	Version string // protocol version if it is not the one that was negotiated
	Headers map[string]string
	// Sending is called before the request is sent. It may be nil.
	Sending func(l link.Link, id jsonrpc.ID, version string)
	// OnMessage is called for the messages on the request's stream before the response.
	OnMessage func(m *jsonrpc.Message)
}

// Request sends a request and waits for the response. It fails with ErrNoResponse if the
// server sends neither a response nor progress within the timeout.
func (c *Conn) Request(ctx context.Context, o *Call) (link.Reply, error) {
	if c.initializing() {
		return link.Reply{}, ErrUnreachable
	}
	l, err := c.open(ctx)
	if err != nil {
		return link.Reply{}, err
	}
	return c.ask(ctx, l, o)
}

// initializing reports whether the first initialize request is running.
func (c *Conn) initializing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancelInit != nil
}

// CancelInitialize cancels the first initialize request if it is running.
func (c *Conn) CancelInitialize(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancelInit != nil {
		c.cancelInit(why)
	}
}

// ErrNoResponse is the error of a request that timed out.
var ErrNoResponse = errors.New("mcpgate: the server does not respond")

func (c *Conn) ask(ctx context.Context, l link.Link, o *Call) (link.Reply, error) {
	c.mu.Lock()
	id := c.nextID()
	version := c.version
	c.mu.Unlock()
	text, err := o.Text(id)
	if err != nil {
		return link.Reply{}, err
	}
	if o.Version != "" {
		version = o.Version
	}
	if o.Sending != nil {
		o.Sending(l, id, version)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(c.Timeout, func() { cancel(ErrNoResponse) })
	defer timer.Stop()
	lasting := o.Method == "subscriptions/listen" // it has no response while it lasts
	if lasting {
		timer.Stop()
	}
	call := &link.Call{Text: text, ID: id, Method: o.Method, Version: version, Headers: maps.Clone(o.Headers)}
	call.OnMessage = func(m *jsonrpc.Message) {
		if !lasting {
			timer.Reset(c.Timeout)
		}
		o.OnMessage(m)
	}
	return l.Call(ctx, call)
}

// Send sends a notification or a response if the server is connected.
func (c *Conn) Send(ctx context.Context, method string, text []byte) {
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
		c.Log.Warn("sending a message to a server failed", "server", c.Name, "method", method, "error", err)
	}
}

// Close closes the connection. A first initialize request that is running ends with the cause.
func (c *Conn) Close(cause error) {
	c.CancelInitialize(cause)
	c.mu.Lock()
	l := c.link
	c.reportSession("")
	c.link, c.closed = nil, true
	c.mu.Unlock()
	if l != nil {
		if err := l.Close(); err != nil {
			c.Log.Warn("closing the connection to a server failed", "server", c.Name, "error", err)
		}
	}
}
