package mcpgate

import (
	"context"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/definition"
	"github.com/stopgate/stopgate/internal/mcp/downstream"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/mirror"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/internal/mcp/upstream"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// conn is one client's connection to one server, with its tools and its open requests.
type conn struct {
	*upstream.Conn
	client  *client
	server  *Server
	tools   definition.Catalog
	changed downstream.Changed

	mu    sync.Mutex
	calls map[jsonrpc.ID]*downstream.Request // the client's requests by request id towards the server
}

func newConn(p *client, s *Server) *conn {
	c := &conn{client: p, server: s, calls: map[jsonrpc.ID]*downstream.Request{}}
	name := string(s.ID)
	if name == "" {
		name = s.Identity
	}
	c.Conn = upstream.New(upstream.Options{
		Name: name, Open: s.open, Timeout: p.g.set.Timeout, Log: p.g.log, Work: &p.g.work,
		Incoming: func(m *jsonrpc.Message) { c.handleMessage(m, nil) }, Lost: c.tools.Clear,
		Handshake: func() (*upstream.Call, []byte) {
			h := p.saved()
			if h == nil {
				return nil, nil
			}
			call, _ := c.call(c.initializeRequest(h, nil), nil)
			return call, h.notification
		},
		Ended: func(s upstream.Session) {
			p.g.reportSession(Session{Outgoing: true, Version: s.Version, Transport: s.Transport, Began: s.Began, Failure: s.Failure})
		},
	})
	return c
}

// outgoing is a request to a server.
type outgoing struct {
	x       *request // the client's request that caused it; nil if the gateway did
	method  string
	about   Observed // attributes for the observer
	text    func(id jsonrpc.ID, seen *observation) ([]byte, error)
	version string
	headers map[string]string
}

// request sends a request and waits for the response.
func (c *conn) request(ctx context.Context, o outgoing) (r link.Reply, err error) {
	var seen *observation
	if c.client.g.observer != nil {
		o.about.Outgoing, o.about.Method, o.about.Server = true, o.method, c.Name
		ctx, seen = c.client.g.observe(ctx, o.about)
		defer func() { seen.endWithReply(r, err) }()
	}
	call, done := c.call(o, seen)
	defer done()
	return c.Conn.Request(ctx, call)
}

// call returns a request for the connection. Until done is called, its id belongs to the
// client's request.
func (c *conn) call(o outgoing, seen *observation) (call *upstream.Call, done func()) {
	var from *downstream.Request
	if o.x != nil {
		from = o.x.Request
	}
	var own jsonrpc.ID
	call = &upstream.Call{Method: o.method, Version: o.version, Headers: o.headers, Sending: seen.sent}
	call.OnMessage = func(m *jsonrpc.Message) { c.handleMessage(m, from) }
	call.Text = func(id jsonrpc.ID) ([]byte, error) {
		if from != nil {
			own = id
			c.mu.Lock()
			c.calls[id] = from
			c.mu.Unlock()
		}
		return o.text(id, seen)
	}
	return call, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, own)
	}
}

// requestByID returns the client's request that caused the request id towards the server.
func (c *conn) requestByID(id jsonrpc.ID) *downstream.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[id]
}

// addTool adds one definition of the server's list to the catalog. It returns nil if the
// definition is invalid.
func (c *conn) addTool(v jsonstream.Value) *definition.Listed {
	t, bad := c.tools.Add(v)
	if t == nil {
		c.client.g.log.Warn("a tool with an invalid definition is not offered", "server", c.Name, "tool", visible.Elide(visible.Text(jsonrpc.TextOf(v, "name")), 64), "reason", bad)
	}
	return t
}

// findTool returns a tool's definition and reads the server's list if necessary. It returns
// nil without an error if the server does not have the tool.
func (c *conn) findTool(ctx context.Context, name stopgate.ToolName, x *request) (*definition.Listed, error) {
	page := func(cursor string) (jsonstream.Value, error) {
		o := c.listRequest(x, "tools/list", cursor)
		o.version, o.headers = x.Meta.Version, map[string]string{mirror.Method: o.method}
		r, err := c.request(ctx, o)
		if err != nil {
			return jsonstream.Value{}, err
		}
		return r.Message.Result, nil
	}
	return c.tools.Find(name, page, func(v jsonstream.Value) { c.addTool(v) })
}

// listRequest returns the gateway's own request for a page of a list.
func (c *conn) listRequest(x *request, method, cursor string) outgoing {
	var parts []string
	if cursor != "" {
		parts = append(parts, `"cursor":`+string(jsonstream.AppendQuote(nil, cursor)))
	}
	o := outgoing{method: method}
	if x.Modern {
		o.version, o.headers = x.Meta.Version, map[string]string{mirror.Method: method}
		parts = append(parts, `"_meta":{"`+protocol.MetaVersion+`":`+string(jsonstream.AppendQuote(nil, x.Meta.Version))+
			`,"`+protocol.MetaCapabilities+`":{},"io.modelcontextprotocol/clientInfo":`+string(c.client.g.implementation())+`}`)
	}
	o.text = func(id jsonrpc.ID, _ *observation) ([]byte, error) {
		return jsonrpc.AppendRequest(nil, id, method, []byte("{"+strings.Join(parts, ",")+"}")), nil
	}
	return o
}

// accepted reports whether a definition is the accepted one. It returns false if the pins
// cannot be read.
func (c *conn) accepted(t *definition.Listed) bool {
	if c.client.g.pins == nil {
		return true
	}
	same, err := c.client.g.pins.Check(c.server.Identity, t.Name, t.Hash, t.Canonical)
	switch {
	case err != nil:
		c.client.g.log.Error("reading the accepted tool definitions failed", "error", err)
	case !same:
		c.client.g.log.Warn("a tool changed since it was accepted and is disabled: review it with stopgate mcp pin approve",
			"server", c.Name, "tool", t.Name)
	}
	return err == nil && same
}

// offered reports whether the client's list contains a tool.
func (c *conn) offered(t *definition.Listed) bool {
	if !c.client.g.gate.Enforced() {
		return true
	}
	accepted := c.accepted(t)
	return !t.InvalidHeaders && accepted && !c.client.g.isHidden(c.callOf(t, accepted), t.Hash)
}

// callOf returns the gate's call for a tool. Its definition counts as pinned only if pins
// are configured and it is the accepted one.
func (c *conn) callOf(t *definition.Listed, accepted bool) stopgate.Call {
	d := t.ToolDefinition
	d.Pinned = accepted && c.client.g.pins != nil
	return c.client.g.call(c.client.owner, c.server, t.Name, &d)
}
