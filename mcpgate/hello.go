package mcpgate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/mcpgate/link"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// Revisions of the protocol (WIRE 8.1). Between those with initialize and the one
// without nothing is translated.
const modernRevision = "2026-07-28"

var legacyRevisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// abilities are what a client declares that it can do for servers.
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

// hello is how the client introduced itself, to be said again to a server that starts
// anew.
type hello struct {
	message     *jsonrpc.Message // initialize
	initialized []byte           // the notification, nil before it came
}

// initialize answers the client's introduction: every server is told, and what those have
// in common that answer is the answer. One that is missing takes nothing from the others.
func (p *peer) initialize(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
	if x.modern || !m.Params.IsValid() {
		return refuse(m.ID, jsonrpc.InvalidParams, "initialize needs params")
	}
	p.mu.Lock()
	again := p.hello != nil
	p.mu.Unlock()
	if again {
		return refuse(m.ID, jsonrpc.InvalidRequest, "the session is initialized already")
	}
	capabilities, _ := m.Params.Get("capabilities")
	h := &hello{message: m}
	if p.g.one() {
		r, err := p.conns[0].introduce(ctx, h, x)
		switch {
		case err != nil:
			return p.unreachable(m.ID, p.conns[0], err)
		case r.Message.Kind == jsonrpc.Failure:
			return p.forward(x, r)
		case !known(r):
			return refuse(m.ID, jsonrpc.UnsupportedVersion, "the server speaks a revision that the gate does not know")
		}
		p.begun(h, textOf(r.Message.Result, "protocolVersion"), capabilities)
		return p.forward(x, r)
	}
	answers := gather(ctx, p, func(c *conn) (link.Reply, error) { return c.enter(ctx, h, x) }, p.arrive)
	here, none := present(p, answers)
	if none != nil {
		for _, c := range p.conns {
			c.giveUp(none)
		}
		return p.nobody(m, x, answers[0])
	}
	least := ""
	for _, s := range here {
		if version := textOf(s.value.Message.Result, "protocolVersion"); least == "" || version < least {
			least = version
		}
	}
	p.begun(h, least, capabilities)
	return p.result(x, p.g.combined(least, here))
}

// begun keeps what initialize has settled.
func (p *peer) begun(h *hello, version string, capabilities jsonstream.Value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version, p.abilities, p.hello = version, abilitiesOf(capabilities), h
}

// nobody answers initialize where no server did: with the refusal of the first, or why it
// is not there.
func (p *peer) nobody(m *jsonrpc.Message, x *exchange, first said[link.Reply]) reply {
	switch {
	case errors.Is(first.err, errRefused):
		return p.forward(x, first.value)
	case errors.Is(first.err, errRevision):
		return refuse(m.ID, jsonrpc.UnsupportedVersion, "the server speaks a revision that the gate does not know")
	}
	return p.unreachable(m.ID, first.conn, first.err)
}

// known reports whether a server's answer to initialize names a revision of sessions.
func known(r link.Reply) bool {
	return slices.Contains(legacyRevisions, textOf(r.Message.Result, "protocolVersion"))
}

// introduction is the text of initialize for one server: without what the policy keeps
// the server from anyway, so that it does not count on it.
func (c *conn) introduction(h *hello, id jsonrpc.ID) ([]byte, error) {
	e := h.message.Edit().ID(id)
	if capabilities, ok := memberOf(h.message.Params, "capabilities"); ok {
		e.Remove(capabilities, func(name string) bool {
			tool, ok := asks[name]
			return ok && !c.p.g.mayAsk(c.p.owner, c.server, tool)
		})
	}
	return e.Text()
}

// introduce tells one server who the client is.
func (c *conn) introduce(ctx context.Context, h *hello, x *exchange) (link.Reply, error) {
	l, err := c.open(ctx)
	if err != nil {
		return link.Reply{}, err
	}
	return c.sayHello(ctx, l, h, x)
}

func (c *conn) sayHello(ctx context.Context, l link.Link, h *hello, x *exchange) (link.Reply, error) {
	text := func(id jsonrpc.ID, _ *observation) ([]byte, error) { return c.introduction(h, id) }
	r, err := c.ask(ctx, l, outgoing{x: x, method: "initialize", text: text})
	if err == nil && r.Message.Kind == jsonrpc.Response {
		if v, ok := r.Message.Result.Get("protocolVersion"); ok && v.Kind() == jsonstream.String {
			c.mu.Lock()
			c.version, c.pause = v.Text(), 0
			c.mu.Unlock()
		}
	}
	return r, err
}

// greet introduces the client to a server that was started anew.
func (c *conn) greet(ctx context.Context, l link.Link) error {
	c.p.mu.Lock()
	h := c.p.hello
	c.p.mu.Unlock()
	if h == nil {
		return nil
	}
	r, err := c.sayHello(ctx, l, h, nil)
	switch {
	case err != nil:
		return err
	case r.Message.Kind != jsonrpc.Response:
		return errors.New("it refuses to be initialized")
	case h.initialized == nil:
		return nil
	}
	return l.Send(ctx, &link.Call{Text: h.initialized, Method: "notifications/initialized", Version: c.versionNow()})
}

func (c *conn) versionNow() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// initialized is the client's word that it is ready.
func (p *peer) initialized(ctx context.Context, m *jsonrpc.Message) {
	p.mu.Lock()
	if p.hello != nil {
		p.hello.initialized = jsonrpc.Line(slices.Clone(m.Text))
	}
	p.mu.Unlock()
	p.tellAll(ctx, m)
}

// discover answers server/discover: what all servers have in common that answer.
func (p *peer) discover(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
	here, alone := p.fromAll(ctx, m, x)
	if len(here) == 0 {
		return alone
	}
	for _, s := range here {
		if s.value.Message.Kind == jsonrpc.Failure {
			return p.forward(x, s.value)
		}
	}
	return p.result(x, p.g.discovered(here))
}

// unreachable answers for a server that does not.
func (p *peer) unreachable(id jsonrpc.ID, c *conn, err error) reply {
	if errors.Is(err, errCancelled) {
		return reply{}
	}
	p.g.log.Warn("a request did not reach a server", "server", c.name(), "error", err)
	message := "the server does not answer"
	if g := new(link.Garbage); errors.As(err, &g) {
		message = "the server's answer cannot be read"
	}
	if c.server.ID != "" {
		message = fmt.Sprintf("%s: %s", c.server.ID, message)
	}
	return refuse(id, jsonrpc.InternalError, message)
}
