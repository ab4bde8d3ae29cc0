package mcpgate

import (
	"context"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
)

// handleMessage handles a request or notification of a server. x is the client's request on
// whose stream it was received, nil if there is none.
func (c *conn) handleMessage(m *jsonrpc.Message, x *request) {
	switch {
	case m.Kind == jsonrpc.Request:
		c.handleServerRequest(m, x)
		return
	case m.Kind != jsonrpc.Notification:
		c.logDropped("the server sent a response to an unknown request")
		return
	}
	if !isNotification(m.Method) {
		c.logDropped("the server sent a notification with the method of a request")
		return
	}
	e := m.Edit()
	switch m.Method {
	case "notifications/cancelled":
		c.handleServerCancel(m)
		return
	case "notifications/progress":
		// Progress is forwarded only to the client of the request, under the client's own
		// token.
		token, _ := m.Params.Get("progressToken")
		if x = c.requestByID(jsonrpc.ParseID(token)); x == nil || x.progressToken == nil {
			return
		}
		e.Replace(token, x.progressToken)
	case "notifications/tools/list_changed":
		c.tools.clear()
	}
	subscribed := false
	if meta, ok := jsonrpc.MemberOf(m.Params, "_meta"); ok {
		if id, ok := meta.Get(metaSubscription); ok {
			subscribed = true
			if x = c.requestByID(jsonrpc.ParseID(id)); x == nil {
				return
			}
			e.Replace(id, []byte(x.id))
		}
	}
	list := changedList(m.Method)
	if list != "" && !subscribed && c.markStale(list) {
		return
	}
	text, err := e.Text()
	if err != nil {
		return
	}
	if sent := x != nil && x.send(text) || c.p.sendUnsolicited(text); !sent && list != "" {
		c.clearStale(list)
	}
}

// changedList returns the list that a notification reports as changed, "" for other
// notifications.
func changedList(method string) string {
	if list, ok := strings.CutSuffix(method, "/list_changed"); ok {
		return strings.TrimPrefix(list, "notifications/")
	}
	return ""
}

// markStale records that the client was notified of a changed list, and reports whether it
// already was. Repeated notifications are dropped.
func (c *conn) markStale(list string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.stale[list]
	if len(c.stale) < maxLists {
		c.stale[list] = true
	}
	return known
}

// maxLists limits the number of list names that are remembered.
const maxLists = 16

// clearStale records that the client requests a list: later changes are reported again.
func (c *conn) clearStale(method string) {
	list, _, _ := strings.Cut(method, "/")
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.stale, list)
}

// clearAllStale reports all list changes again, because the client may have missed
// notifications.
func (p *client) clearStale() {
	for _, c := range p.conns {
		c.mu.Lock()
		clear(c.stale)
		c.mu.Unlock()
	}
}

// Policy tables for requests of servers to clients, by method and by capability.
var (
	methodTables = map[string]stopgate.ToolName{
		"sampling/createMessage": "mcp.sampling", "elicitation/create": "mcp.elicitation", "roots/list": "mcp.roots",
	}
	capabilityTables = map[string]stopgate.ToolName{"sampling": "mcp.sampling", "elicitation": "mcp.elicitation", "roots": "mcp.roots"}
)

// serverRequest is a request to the client that waits for the response.
type serverRequest struct {
	conn  *conn      // nil if the gateway sent the request
	id    jsonrpc.ID // id of the server
	token jsonrpc.ID // progress token of the server
	reply chan *jsonrpc.Message
}

// handleServerRequest handles a server's request to the client. It is denied unless a table
// of the policy allows it (G11).
func (c *conn) handleServerRequest(m *jsonrpc.Message, x *request) {
	if m.Method == "ping" {
		c.send(context.Background(), "", jsonrpc.AppendResult(nil, m.ID, []byte("{}")))
		return
	}
	tool, known := methodTables[m.Method]
	if !known {
		c.send(context.Background(), "", jsonrpc.AppendError(nil, m.ID, jsonrpc.MethodNotFound, "this method is not served", nil))
		return
	}
	c.p.g.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), c.p.g.set.ApprovalTimeout)
		defer cancel()
		args := []byte("{}")
		if m.Params.IsValid() {
			args = m.Params.Raw()
		}
		out, err := c.p.g.decide(ctx, c.p.g.tableCall(c.p, c.server, tool), args)
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

// relay forwards a server's request to the client.
func (c *conn) relay(m *jsonrpc.Message, x *request, e *jsonrpc.Edits) {
	ask := &serverRequest{conn: c, id: m.ID}
	if meta, ok := jsonrpc.MemberOf(m.Params, "_meta"); ok {
		token, _ := meta.Get("progressToken")
		ask.token = jsonrpc.ParseID(token)
	}
	id := c.p.register(ask)
	text, err := e.ID(id).Text()
	if err == nil && (x != nil && x.send(text) || c.p.sendUnsolicited(text)) {
		return
	}
	c.p.unregister(id)
	c.send(context.Background(), "", jsonrpc.AppendError(nil, m.ID, jsonrpc.InternalError, "the client cannot receive requests now", nil))
}

// register assigns an id to a request to the client.
func (p *client) register(a *serverRequest) jsonrpc.ID {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID++
	id := jsonrpc.ID(`"stopgate-` + strconv.FormatInt(p.lastID, 10) + `"`)
	p.serverRequests[id] = a
	return id
}

// unregister removes and returns a request to the client.
func (p *client) unregister(id jsonrpc.ID) *serverRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.serverRequests[id]
	delete(p.serverRequests, id)
	return a
}

// handleResponse handles the client's response to a request of a server or of the gateway.
func (p *client) handleResponse(ctx context.Context, m *jsonrpc.Message) {
	a := p.unregister(m.ID)
	switch {
	case a == nil:
		p.g.log.Warn("a client's response was dropped", "reason", "unknown request")
	case a.conn == nil:
		a.reply <- m
	default:
		if text, err := m.Edit().ID(a.id).Text(); err == nil {
			a.conn.send(ctx, "", text)
		}
	}
}

// handleServerCancel forwards a server's cancellation of its request.
func (c *conn) handleServerCancel(m *jsonrpc.Message) {
	if !m.Params.IsValid() {
		return
	}
	theirs, ok := m.Params.Get("requestId")
	if !ok {
		return
	}
	c.p.mu.Lock()
	var ours jsonrpc.ID
	for id, a := range c.p.serverRequests {
		if a.conn == c && a.id == jsonrpc.ParseID(theirs) {
			ours = id
			delete(c.p.serverRequests, id)
		}
	}
	c.p.mu.Unlock()
	if ours == "" {
		return
	}
	if text, err := m.Edit().Replace(theirs, []byte(ours)).Text(); err == nil {
		if x := c.p.newest(); x == nil || !x.send(text) {
			c.p.sendUnsolicited(text)
		}
	}
}

// handleProgress forwards the client's progress of a server's request.
func (p *client) handleProgress(ctx context.Context, m *jsonrpc.Message) {
	if !m.Params.IsValid() {
		return
	}
	v, _ := m.Params.Get("progressToken")
	token := jsonrpc.ParseID(v)
	if token == "" {
		return
	}
	p.mu.Lock()
	var to *conn
	for _, a := range p.serverRequests {
		if a.conn != nil && a.token == token {
			to = a.conn
		}
	}
	p.mu.Unlock()
	if to != nil {
		to.send(ctx, m.Method, jsonrpc.SingleLine(append([]byte(nil), m.Text...)))
	}
}
