package upstream

import (
	"context"
	"errors"
	"slices"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/jsonstream"
)

// FirstInitialize initializes a server for the first time. Until it returns, no other
// message is sent to the server. A server that fails is connected again later.
func (c *Conn) FirstInitialize(ctx context.Context, o *Call) (r link.Reply, err error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	c.mu.Lock()
	c.cancelInit = cancel
	c.mu.Unlock()
	err = ErrUnreachable // if Initialize panics
	defer func() { c.endFirstInitialize(err) }()
	if r, err = c.Initialize(ctx, o); err == nil {
		err = checkInitialize(r)
	}
	return r, err
}

// endFirstInitialize makes the connection available, or disconnects it if err is not nil.
func (c *Conn) endFirstInitialize(err error) {
	c.mu.Lock()
	c.cancelInit = nil
	l := c.link
	if err != nil && l != nil {
		c.markFailedLocked()
	}
	c.mu.Unlock()
	if err != nil && l != nil {
		c.Work.Go(func() { _ = l.Close() })
	}
}

// checkInitialize returns an error if the response to initialize is a refusal or has an
// unknown version.
func checkInitialize(r link.Reply) error {
	switch {
	case r.Message.Kind == jsonrpc.ErrorResponse:
		return ErrRefused
	case !KnownRevision(r):
		return ErrRevision
	}
	return nil
}

var (
	ErrRefused  = errors.New("mcpgate: the server refused initialize")
	ErrRevision = errors.New("mcpgate: the server responded with an unknown protocol version")
)

// KnownRevision reports whether a response to initialize names a known revision with
// sessions.
func KnownRevision(r link.Reply) bool {
	return slices.Contains(protocol.Legacy, jsonrpc.TextOf(r.Message.Result, "protocolVersion"))
}

// Initialize connects to a server and initializes it.
func (c *Conn) Initialize(ctx context.Context, o *Call) (link.Reply, error) {
	l, err := c.open(ctx)
	if err != nil {
		return link.Reply{}, err
	}
	return c.initialize(ctx, l, o)
}

func (c *Conn) initialize(ctx context.Context, l link.Link, o *Call) (link.Reply, error) {
	r, err := c.ask(ctx, l, o)
	if err == nil && r.Message.Kind == jsonrpc.Response {
		if v, ok := r.Message.Result.Get("protocolVersion"); ok && v.Kind() == jsonstream.String {
			c.mu.Lock()
			c.version, c.retryDelay = v.Text(), 0
			c.mu.Unlock()
		}
	}
	return r, err
}

// reinitialize repeats the client's handshake with a restarted server.
func (c *Conn) reinitialize(ctx context.Context, l link.Link) error {
	o, initialized := c.Handshake()
	if o == nil {
		return nil
	}
	r, err := c.initialize(ctx, l, o)
	switch {
	case err != nil:
		return err
	case r.Message.Kind != jsonrpc.Response:
		return errors.New("the server refused initialize")
	case initialized == nil:
		return nil
	}
	return l.Send(ctx, &link.Call{Text: initialized, Method: "notifications/initialized", Version: c.currentVersion()})
}

func (c *Conn) currentVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}
