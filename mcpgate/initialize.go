package mcpgate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/jsonstream"
)

// Protocol revisions. Messages are not translated between the revisions with initialize and
// the one without sessions.
const modernRevision = "2026-07-28"

var legacyRevisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// abilities are the capabilities that a client offers to servers.
type abilities struct{ sampling, elicitation, roots bool }

func abilitiesOf(capabilities jsonstream.Value) (a abilities) {
	if !capabilities.IsValid() || capabilities.Kind() != jsonstream.Object {
		return a
	}
	has := func(name string) bool {
		v, ok := capabilities.Get(name)
		return ok && v.Kind() == jsonstream.Object
	}
	return abilities{sampling: has("sampling"), elicitation: has("elicitation"), roots: has("roots")}
}

// handshake stores the client's initialize messages, to repeat them for a restarted server.
type handshake struct {
	message      *jsonrpc.Message // the initialize request
	notification []byte           // notifications/initialized; nil before it was received
}

// initialize sends initialize to every server and returns the capabilities that the
// responding servers have in common. A server that does not respond does not affect the
// others.
func (x *request) initialize(ctx context.Context) reply {
	if x.modern || !x.m.Params.IsValid() {
		return refuse(x.m.ID, jsonrpc.InvalidParams, "initialize has no params")
	}
	x.p.mu.Lock()
	again := x.p.handshake != nil
	x.p.mu.Unlock()
	if again {
		return refuse(x.m.ID, jsonrpc.InvalidRequest, "the session is already initialized")
	}
	capabilities, _ := x.m.Params.Get("capabilities")
	h := &handshake{message: x.m}
	if x.p.g.one() {
		r, err := x.p.conns[0].openAndInitialize(ctx, h, x)
		switch {
		case err != nil:
			return x.unreachable(x.p.conns[0], err)
		case r.Message.Kind == jsonrpc.ErrorResponse:
			return x.forward(r)
		case !knownRevision(r):
			return refuse(x.m.ID, jsonrpc.UnsupportedVersion, "the server responded with an unknown protocol version")
		}
		x.p.setHandshake(h, jsonrpc.TextOf(r.Message.Result, "protocolVersion"), capabilities)
		return x.forward(r)
	}
	answers := gather(ctx, x.p, func(c *conn) (link.Reply, error) { return c.firstInitialize(ctx, h, x) }, x.p.addLate)
	here, none := succeeded(x.p, answers)
	if none != nil {
		for _, c := range x.p.conns {
			c.cancelInitialize(none)
		}
		return x.initializeFailed(answers[0])
	}
	least := ""
	for _, s := range here {
		if version := jsonrpc.TextOf(s.value.Message.Result, "protocolVersion"); least == "" || version < least {
			least = version
		}
	}
	x.p.setHandshake(h, least, capabilities)
	return x.result(x.p.g.mergedInitialize(least, here))
}

// primedVersion is the first revision whose clients expect an event without data at the start of a
// stream.
const primedVersion = "2025-11-25"

func (p *client) expectsPrimer() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version >= primedVersion
}

// setHandshake stores the result of initialize.
func (p *client) setHandshake(h *handshake, version string, capabilities jsonstream.Value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version, p.abilities, p.handshake = version, abilitiesOf(capabilities), h
}

// initializeFailed returns the reply to initialize if every server failed: the error of the
// first server.
func (x *request) initializeFailed(first serverResult[link.Reply]) reply {
	switch {
	case errors.Is(first.err, errRefused):
		return x.forward(first.value)
	case errors.Is(first.err, errRevision):
		return refuse(x.m.ID, jsonrpc.UnsupportedVersion, "the server responded with an unknown protocol version")
	}
	return x.unreachable(first.conn, first.err)
}

// knownRevision reports whether a response to initialize names a known revision with
// sessions.
func knownRevision(r link.Reply) bool {
	return slices.Contains(legacyRevisions, jsonrpc.TextOf(r.Message.Result, "protocolVersion"))
}

// initializeText returns the initialize request for one server. It omits capabilities that
// the policy denies to the server.
func (c *conn) initializeText(h *handshake, id jsonrpc.ID) ([]byte, error) {
	e := h.message.Edit().ID(id)
	if capabilities, ok := jsonrpc.MemberOf(h.message.Params, "capabilities"); ok {
		e.Remove(capabilities, func(name string) bool {
			tool, ok := capabilityTables[name]
			return ok && !c.p.g.mayRequest(c.p.owner, c.server, tool)
		})
	}
	return e.Text()
}

// openAndInitialize connects to a server and initializes it.
func (c *conn) openAndInitialize(ctx context.Context, h *handshake, x *request) (link.Reply, error) {
	l, err := c.open(ctx)
	if err != nil {
		return link.Reply{}, err
	}
	return c.initialize(ctx, l, h, x)
}

func (c *conn) initialize(ctx context.Context, l link.Link, h *handshake, x *request) (link.Reply, error) {
	text := func(id jsonrpc.ID, _ *observation) ([]byte, error) { return c.initializeText(h, id) }
	r, err := c.ask(ctx, l, outgoing{x: x, method: "initialize", text: text})
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
func (c *conn) reinitialize(ctx context.Context, l link.Link) error {
	c.p.mu.Lock()
	h := c.p.handshake
	c.p.mu.Unlock()
	if h == nil {
		return nil
	}
	r, err := c.initialize(ctx, l, h, nil)
	switch {
	case err != nil:
		return err
	case r.Message.Kind != jsonrpc.Response:
		return errors.New("the server refused initialize")
	case h.notification == nil:
		return nil
	}
	return l.Send(ctx, &link.Call{Text: h.notification, Method: "notifications/initialized", Version: c.currentVersion()})
}

func (c *conn) currentVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// initialized handles notifications/initialized.
func (p *client) initialized(ctx context.Context, m *jsonrpc.Message) {
	p.mu.Lock()
	if p.handshake != nil {
		p.handshake.notification = jsonrpc.SingleLine(slices.Clone(m.Text))
	}
	p.mu.Unlock()
	p.notifyServers(ctx, m)
}

// discover handles server/discover. It returns the capabilities that the responding servers
// have in common.
func (x *request) discover(ctx context.Context) reply {
	here, single := x.fromAll(ctx)
	if len(here) == 0 {
		return single
	}
	for _, s := range here {
		if s.value.Message.Kind == jsonrpc.ErrorResponse {
			return x.forward(s.value)
		}
	}
	return x.result(x.p.g.mergedDiscover(here))
}

// unreachable returns the error reply for a server that does not respond.
func (x *request) unreachable(c *conn, err error) reply {
	if errors.Is(err, errCancelled) {
		return reply{}
	}
	x.p.g.log.Warn("a request to a server failed", "server", c.name(), "error", err)
	message := "the server does not respond"
	if g := new(link.InvalidResponseError); errors.As(err, &g) {
		message = "the server sent an invalid response"
	}
	if c.server.ID != "" {
		message = fmt.Sprintf("%s: %s", c.server.ID, message)
	}
	return refuse(x.id, jsonrpc.InternalError, message)
}
