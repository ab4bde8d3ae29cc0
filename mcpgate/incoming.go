package mcpgate

import (
	"context"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// incoming takes a message that a server sends by itself; x is the request on whose
// stream it came, nil where it came on none.
func (c *conn) incoming(m *jsonrpc.Message, x *exchange) {
	switch {
	case m.Kind == jsonrpc.Request:
		c.asks(m, x)
		return
	case m.Kind != jsonrpc.Notification:
		c.noise("a response to a request that was not sent")
		return
	}
	if !notifies(m.Method) {
		c.noise("a notification that is not one")
		return
	}
	e := m.Edit()
	switch m.Method {
	case "notifications/cancelled":
		c.withdraws(m)
		return
	case "notifications/progress":
		// Only the request's own client hears of it, under its own token.
		token, _ := m.Params.Get("progressToken")
		if x = c.exchangeOf(jsonrpc.Literal(token)); x == nil || x.token == nil {
			return
		}
		e.Replace(token, x.token)
	case "notifications/tools/list_changed":
		c.tools.forget()
	}
	subscribed := false
	if meta, ok := memberOf(m.Params, "_meta"); ok {
		if id, ok := meta.Get(metaSubscription); ok {
			subscribed = true
			if x = c.exchangeOf(jsonrpc.Literal(id)); x == nil {
				return
			}
			e.Replace(id, []byte(x.id))
		}
	}
	list := changed(m.Method)
	if list != "" && !subscribed && c.isStale(list) {
		return
	}
	text, err := e.Text()
	if err != nil {
		return
	}
	if heard := x != nil && x.tell(text) || c.p.out(text); !heard && list != "" {
		c.listed(list)
	}
}

// changed is what a notification says has changed, "" for every other one.
func changed(method string) string {
	if list, ok := strings.CutSuffix(method, "/list_changed"); ok {
		return strings.TrimPrefix(list, "notifications/")
	}
	return ""
}

// isStale reports whether the client knows already that a list has changed, and notes
// that it knows now: a server that says so all the time says nothing new.
func (c *conn) isStale(list string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.stale[list]
	if len(c.stale) < maxLists {
		c.stale[list] = true
	}
	return known
}

// maxLists bounds the names of lists that are remembered.
const maxLists = 16

// listed notes that the client asks for a list: what changes from now on is news.
func (c *conn) listed(method string) {
	list, _, _ := strings.Cut(method, "/")
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.stale, list)
}

// renew lets the client hear again of lists that change: it may not have heard before.
func (p *peer) renew() {
	for _, c := range p.conns {
		c.mu.Lock()
		clear(c.stale)
		c.mu.Unlock()
	}
}

// memberOf is a member that is an object.
func memberOf(object jsonstream.Value, name string) (jsonstream.Value, bool) {
	if !object.IsValid() || object.Kind() != jsonstream.Object {
		return jsonstream.Value{}, false
	}
	v, ok := object.Get(name)
	return v, ok && v.Kind() == jsonstream.Object
}

// The rows of the policy for what servers ask of clients (WIRE 8.3), by the method and
// by the capability that lets a server ask.
var (
	askMethods = map[string]stopgate.ToolName{
		"sampling/createMessage": "mcp.sampling", "elicitation/create": "mcp.elicitation", "roots/list": "mcp.roots",
	}
	asks = map[string]stopgate.ToolName{"sampling": "mcp.sampling", "elicitation": "mcp.elicitation", "roots": "mcp.roots"}
)

// serverAsk is a request to the client that waits for the client's answer.
type serverAsk struct {
	conn  *conn      // nil: the gate itself asks
	id    jsonrpc.ID // the server's id
	token jsonrpc.ID // the server's progress token
	reply chan *jsonrpc.Message
}

// asks takes a server's request to the client: it is denied unless the policy has a
// table for it that allows it (THREATS G11).
func (c *conn) asks(m *jsonrpc.Message, x *exchange) {
	if m.Method == "ping" {
		c.send(context.Background(), "", jsonrpc.AppendResult(nil, m.ID, []byte("{}")))
		return
	}
	tool, known := askMethods[m.Method]
	if !known {
		c.send(context.Background(), "", jsonrpc.AppendError(nil, m.ID, jsonrpc.MethodNotFound, "this method is not served", nil))
		return
	}
	c.p.g.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), c.p.g.set.Hold)
		defer cancel()
		args := []byte("{}")
		if m.Params.IsValid() {
			args = m.Params.Raw()
		}
		out, err := c.p.g.decide(ctx, c.p.g.ask(c.p, c.server, tool), args)
		if err != nil || !out.Allowed() {
			env := out.Envelope()
			c.send(ctx, "", jsonrpc.AppendError(nil, m.ID, jsonrpc.Denied, env.PublicReason, envelopeText(env)))
			return
		}
		e := m.Edit()
		if out.Enforced && m.Params.IsValid() {
			e.Replace(m.Params, out.Args)
		}
		c.relay(m, x, e)
	})
}

// relay puts a server's request to the client.
func (c *conn) relay(m *jsonrpc.Message, x *exchange, e *jsonrpc.Edits) {
	ask := &serverAsk{conn: c, id: m.ID}
	if meta, ok := memberOf(m.Params, "_meta"); ok {
		token, _ := meta.Get("progressToken")
		ask.token = jsonrpc.Literal(token)
	}
	id := c.p.expect(ask)
	text, err := e.ID(id).Text()
	if err == nil && (x != nil && x.tell(text) || c.p.out(text)) {
		return
	}
	c.p.forgo(id)
	c.send(context.Background(), "", jsonrpc.AppendError(nil, m.ID, jsonrpc.InternalError, "the client cannot be asked now", nil))
}

// expect gives a request to the client its id.
func (p *peer) expect(a *serverAsk) jsonrpc.ID {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	id := jsonrpc.ID(`"stopgate-` + strconv.FormatInt(p.next, 10) + `"`)
	p.asked[id] = a
	return id
}

// forgo takes a request to the client out of those that wait.
func (p *peer) forgo(id jsonrpc.ID) *serverAsk {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.asked[id]
	delete(p.asked, id)
	return a
}

// answered takes the client's answer to a request of a server, or of the gate.
func (p *peer) answered(ctx context.Context, m *jsonrpc.Message) {
	a := p.forgo(m.ID)
	switch {
	case a == nil:
		p.g.log.Warn("from a client", "what", "a response to a request that was not sent")
	case a.conn == nil:
		a.reply <- m
	default:
		if text, err := m.Edit().ID(a.id).Text(); err == nil {
			a.conn.send(ctx, "", text)
		}
	}
}

// withdraws takes a server's word that it needs no answer any more.
func (c *conn) withdraws(m *jsonrpc.Message) {
	if !m.Params.IsValid() {
		return
	}
	theirs, ok := m.Params.Get("requestId")
	if !ok {
		return
	}
	c.p.mu.Lock()
	var ours jsonrpc.ID
	for id, a := range c.p.asked {
		if a.conn == c && a.id == jsonrpc.Literal(theirs) {
			ours = id
			delete(c.p.asked, id)
		}
	}
	c.p.mu.Unlock()
	if ours == "" {
		return
	}
	if text, err := m.Edit().Replace(theirs, []byte(ours)).Text(); err == nil {
		if x := c.p.newest(); x == nil || !x.tell(text) {
			c.p.out(text)
		}
	}
}

// progressed forwards the client's progress with a request of a server.
func (p *peer) progressed(ctx context.Context, m *jsonrpc.Message) {
	if !m.Params.IsValid() {
		return
	}
	v, _ := m.Params.Get("progressToken")
	token := jsonrpc.Literal(v)
	if token == "" {
		return
	}
	p.mu.Lock()
	var to *conn
	for _, a := range p.asked {
		if a.conn != nil && a.token == token {
			to = a.conn
		}
	}
	p.mu.Unlock()
	if to != nil {
		to.send(ctx, m.Method, jsonrpc.Line(append([]byte(nil), m.Text...)))
	}
}
