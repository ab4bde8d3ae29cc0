package mcpgate

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/downstream"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
)

// handleMessage handles a request or notification of a server. x is the client's request on
// whose stream it was received, nil if there is none.
func (c *conn) handleMessage(m *jsonrpc.Message, x *downstream.Request) {
	switch {
	case m.Kind == jsonrpc.Request:
		c.handleServerRequest(m, x)
		return
	case m.Kind != jsonrpc.Notification:
		c.LogDropped("the server sent a response to an unknown request")
		return
	}
	if !protocol.IsNotification(m.Method) {
		c.LogDropped("the server sent a notification with the method of a request")
		return
	}
	e := m.Edit()
	switch m.Method {
	case "notifications/cancelled":
		c.client.CancelAsked(c, m)
		return
	case "notifications/progress":
		// Progress is forwarded only to the client of the request, under the client's own
		// token.
		token, _ := m.Params.Get("progressToken")
		if x = c.requestByID(jsonrpc.ParseID(token)); x == nil || x.ProgressToken == nil {
			return
		}
		e.Replace(token, x.ProgressToken)
	case "notifications/tools/list_changed":
		c.tools.Clear()
	}
	subscribed := false
	if meta, ok := jsonrpc.MemberOf(m.Params, "_meta"); ok {
		if id, ok := meta.Get(protocol.MetaSubscription); ok {
			subscribed = true
			if x = c.requestByID(jsonrpc.ParseID(id)); x == nil {
				return
			}
			e.Replace(id, []byte(x.Message.ID))
		}
	}
	list := downstream.ListOf(m.Method)
	if list != "" && !subscribed && !c.changed.Notify(list) {
		return
	}
	text, err := e.Text()
	if err != nil {
		return
	}
	if sent := x != nil && x.Send(text) || c.client.Send(text); !sent && list != "" {
		c.changed.Requested(list)
	}
}

// Policy tables for requests of servers to clients, by method and by capability.
var (
	methodTables = map[string]stopgate.ToolName{
		"sampling/createMessage": "mcp.sampling", "elicitation/create": "mcp.elicitation", "roots/list": "mcp.roots",
	}
	capabilityTables = map[string]stopgate.ToolName{"sampling": "mcp.sampling", "elicitation": "mcp.elicitation", "roots": "mcp.roots"}
)

// handleServerRequest handles a server's request to the client. It is denied unless a table
// of the policy allows it (G11).
func (c *conn) handleServerRequest(m *jsonrpc.Message, x *downstream.Request) {
	if m.Method == "ping" {
		c.Send(context.Background(), "", jsonrpc.AppendResult(nil, m.ID, []byte("{}")))
		return
	}
	tool, known := methodTables[m.Method]
	if !known {
		c.Send(context.Background(), "", jsonrpc.AppendError(nil, m.ID, jsonrpc.MethodNotFound, "this method is not served", nil))
		return
	}
	c.client.g.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), c.client.g.set.ApprovalTimeout)
		defer cancel()
		args := []byte("{}")
		if m.Params.IsValid() {
			args = m.Params.Raw()
		}
		out, err := c.client.g.decide(ctx, c.client.g.tableCall(c.client, c.server, tool), args)
		if err != nil || !out.Allowed() {
			env := out.Envelope()
			c.Send(ctx, "", jsonrpc.AppendError(nil, m.ID, jsonrpc.Denied, env.PublicReason, protocol.EnvelopeText(env)))
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
func (c *conn) relay(m *jsonrpc.Message, x *downstream.Request, e *jsonrpc.Edits) {
	ask := &downstream.Asked{Server: c, ID: m.ID}
	if m.Method == "elicitation/create" {
		ask.Answered = func(ctx context.Context, answer *jsonrpc.Message) {
			c.client.addAnswer(ctx, m.Params.Raw(), answer.Result)
		}
	}
	if meta, ok := jsonrpc.MemberOf(m.Params, "_meta"); ok {
		token, _ := meta.Get("progressToken")
		ask.Token = jsonrpc.ParseID(token)
	}
	id := c.client.Ask(ask)
	text, err := e.ID(id).Text()
	if err == nil && (x != nil && x.Send(text) || c.client.Send(text)) {
		return
	}
	c.client.Withdraw(id)
	c.Send(context.Background(), "", jsonrpc.AppendError(nil, m.ID, jsonrpc.InternalError, "the client cannot receive requests now", nil))
}
