package mcpgate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/mcp/downstream"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/merge"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/internal/mcp/serve"
	"github.com/stopgate/stopgate/internal/mcp/upstream"
	"github.com/stopgate/stopgate/jsonstream"
)

// handshake stores the client's initialize messages, to repeat them for a restarted server.
type handshake struct {
	message      *jsonrpc.Message // the initialize request
	notification []byte           // notifications/initialized; nil before it was received
}

// initialize sends initialize to every server and returns the capabilities that the
// responding servers have in common. A server that does not respond does not affect the
// others.
func (x *request) initialize(ctx context.Context) reply {
	if x.Modern || !x.Message.Params.IsValid() {
		return serve.Refuse(x.Message.ID, jsonrpc.InvalidParams, "initialize has no params")
	}
	if x.client.saved() != nil {
		return serve.Refuse(x.Message.ID, jsonrpc.InvalidRequest, "the session is already initialized")
	}
	capabilities, _ := x.Message.Params.Get("capabilities")
	h := handshake{message: x.Message}
	if x.client.g.one() {
		r, err := x.client.conns[0].initialize(ctx, h, x, (*upstream.Conn).Initialize)
		switch {
		case err != nil:
			return x.unreachable(x.client.conns[0], err)
		case r.Message.Kind == jsonrpc.ErrorResponse:
			return x.forward(r)
		case !upstream.KnownRevision(r):
			return serve.Refuse(x.Message.ID, jsonrpc.UnsupportedVersion, "the server responded with an unknown protocol version")
		}
		x.client.setHandshake(h, jsonrpc.TextOf(r.Message.Result, "protocolVersion"), capabilities)
		return x.forward(r)
	}
	answers := merge.Gather(ctx, &x.client.g.work, x.client.conns, func(c *conn) (link.Reply, error) { return c.initialize(ctx, h, x, (*upstream.Conn).FirstInitialize) }, x.client.addLate)
	here, none := merge.Succeeded(answers, x.client.logMissing)
	if none != nil {
		for _, c := range x.client.conns {
			c.CancelInitialize(none)
		}
		return x.initializeFailed(answers[0])
	}
	version, result := merge.Initialize(parts(here), x.client.g.implementation())
	x.client.setHandshake(h, version, capabilities)
	return x.result(result)
}

// parts returns the results of servers for package merge.
func parts(replies []merge.Result[*conn, link.Reply]) (list []merge.Part) {
	for _, r := range replies {
		list = append(list, merge.Part{Server: r.Server.server.ID, Result: r.Value.Message.Result})
	}
	return list
}

// primedVersion is the first revision whose clients expect an event without data at the start of a
// stream.
const primedVersion = "2025-11-25"

// ExpectsPrimer implements [serve.Client].
func (p *client) ExpectsPrimer() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version >= primedVersion
}

// setHandshake stores the result of initialize.
func (p *client) setHandshake(h handshake, version string, capabilities jsonstream.Value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version, p.elicits, p.handshake = version, protocol.Elicits(capabilities), &h
}

// saved returns the handshake, nil before initialize.
func (p *client) saved() *handshake {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handshake == nil {
		return nil
	}
	h := *p.handshake
	return &h
}

// saveNotification adds notifications/initialized to the handshake.
func (p *client) saveNotification(m *jsonrpc.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handshake != nil {
		p.handshake.notification = jsonrpc.SingleLine(slices.Clone(m.Text))
	}
}

// Handshake implements [serve.Client]: the version, the client's request and its notification, a
// line each.
func (p *client) Handshake() []byte {
	h := p.saved()
	if h == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Join([][]byte{[]byte(p.version), jsonrpc.SingleLine(slices.Clone(h.message.Text)), bytes.TrimSpace(h.notification)}, []byte("\n"))
}

// Resume implements [serve.Client]. Servers are initialized again by the next request to them.
func (p *client) Resume(handshakeText []byte) error {
	version, rest, _ := bytes.Cut(handshakeText, []byte("\n"))
	request, notification, _ := bytes.Cut(rest, []byte("\n"))
	m, err := jsonrpc.Read(bytes.Clone(request))
	if err != nil || m.Method != "initialize" || !m.Params.IsValid() {
		return errors.Join(errors.New("the stored session is not one"), err)
	}
	h := handshake{message: m}
	if len(notification) > 0 {
		h.notification = bytes.Clone(notification)
	}
	capabilities, _ := m.Params.Get("capabilities")
	p.setHandshake(h, string(version), capabilities)
	return nil
}

// Initialized implements [serve.Client].
func (p *client) Initialized() bool { return p.saved() != nil }

// initializeFailed returns the reply to initialize if every server failed: the error of the
// first server.
func (x *request) initializeFailed(first merge.Result[*conn, link.Reply]) reply {
	switch {
	case errors.Is(first.Err, upstream.ErrRefused):
		return x.forward(first.Value)
	case errors.Is(first.Err, upstream.ErrRevision):
		return serve.Refuse(x.Message.ID, jsonrpc.UnsupportedVersion, "the server responded with an unknown protocol version")
	}
	return x.unreachable(first.Server, first.Err)
}

// initializeRequest returns the initialize request for one server. It omits capabilities that
// the policy denies to the server.
func (c *conn) initializeRequest(h *handshake, x *request) outgoing {
	return outgoing{x: x, method: "initialize", text: func(id jsonrpc.ID, _ *observation) ([]byte, error) {
		e := h.message.Edit().ID(id)
		if capabilities, ok := jsonrpc.MemberOf(h.message.Params, "capabilities"); ok {
			e.Remove(capabilities, func(name string) bool {
				tool, ok := capabilityTables[name]
				return ok && !c.client.g.mayRequest(c.client.owner, c.server, tool)
			})
		}
		return e.Text()
	}}
}

// initialize initializes the server by one of the two methods of its connection.
func (c *conn) initialize(ctx context.Context, h handshake, x *request, by func(*upstream.Conn, context.Context, *upstream.Call) (link.Reply, error)) (link.Reply, error) {
	call, done := c.call(c.initializeRequest(&h, x), nil)
	defer done()
	return by(c.Conn, ctx, call)
}

// addLate adds a server that was initialized after the response to the client, and notifies
// the client that the list of tools changed.
func (p *client) addLate(s merge.Result[*conn, link.Reply]) {
	if s.Err != nil {
		p.logMissing(s.Server, s.Err)
		return
	}
	p.g.log.Info("a server is connected now", "server", s.Server.Name)
	h := p.saved()
	if h == nil || h.notification == nil {
		return // the client has not sent notifications/initialized yet
	}
	s.Server.Send(context.Background(), "notifications/initialized", h.notification)
	p.Send(jsonrpc.AppendRequest(nil, "", "notifications/tools/list_changed", nil))
}

// logMissing logs that a response does not include a server.
func (p *client) logMissing(c *conn, err error) {
	if errors.Is(err, downstream.ErrCancelled) {
		return
	}
	p.g.log.Warn("a response omits a server that did not respond", "server", c.Name, "error", err)
}

// discover handles server/discover. It returns the capabilities that the responding servers
// have in common.
func (x *request) discover(ctx context.Context) reply {
	here, single := x.fromAll(ctx)
	if len(here) == 0 {
		return single
	}
	for _, s := range here {
		if s.Value.Message.Kind == jsonrpc.ErrorResponse {
			return x.forward(s.Value)
		}
	}
	return x.result(merge.Discover(parts(here), x.client.g.implementation()))
}

// unreachable returns the error reply for a server that does not respond.
func (x *request) unreachable(c *conn, err error) reply {
	if errors.Is(err, downstream.ErrCancelled) {
		return reply{}
	}
	x.client.g.log.Warn("a request to a server failed", "server", c.Name, "error", err)
	message := "the server does not respond"
	if g := new(link.InvalidResponseError); errors.As(err, &g) {
		message = "the server sent an invalid response"
	}
	if c.server.ID != "" {
		message = fmt.Sprintf("%s: %s", c.server.ID, message)
	}
	return serve.Refuse(x.Message.ID, jsonrpc.InternalError, message)
}
