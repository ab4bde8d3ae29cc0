package mcpgate

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/mcp/definition"
	"github.com/stopgate/stopgate/internal/mcp/downstream"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/internal/mcp/round"
	"github.com/stopgate/stopgate/internal/mcp/serve"
	"github.com/stopgate/stopgate/internal/mcp/upstream"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// toolCall is one tools/call of the client.
type toolCall struct {
	x     *request
	conn  *conn
	tool  *definition.Listed
	name  string // the client's name for the tool
	round *round.Round
}

// callTool evaluates a call and forwards it to its server if it is allowed.
func (x *request) callTool(ctx context.Context) reply {
	name := jsonrpc.TextOf(x.Message.Params, "name")
	if name == "" {
		return serve.Refuse(x.Message.ID, jsonrpc.InvalidParams, "tools/call has no tool name")
	}
	c, inner, ok := x.client.route(name)
	if !ok {
		return x.unknownTool(ctx, stopgate.ToolName(name), nil)
	}
	t, err := c.findTool(ctx, stopgate.ToolName(inner), x)
	switch {
	case err != nil:
		return x.serverUnavailable(ctx, c, stopgate.ToolName(inner), err)
	case t == nil:
		return x.unknownTool(ctx, stopgate.ToolName(inner), c)
	}
	return (&toolCall{x: x, conn: c, tool: t, name: name}).handle(ctx)
}

func (k *toolCall) handle(ctx context.Context) reply {
	x, g := k.x, k.x.client.g
	args := []byte("{}")
	arguments, given := x.Message.Params.Get("arguments")
	if given {
		args = arguments.Raw()
	}
	accepted := k.conn.accepted(k.tool)
	call := k.conn.callOf(k.tool, accepted)
	call.ID = stopgate.CallID(x.Message.ID)
	if x.header != nil { // HTTP, in the revision without sessions
		if wrong := k.tool.HeaderParams.Compare(x.header, arguments); wrong != "" {
			x.client.g.refuseCall(ctx, call, stopgate.CodeEnvelopeMismatch)
			return serve.Refuse(x.Message.ID, jsonrpc.HeaderMismatch, wrong)
		}
	}
	if g.gate.Enforced() && (g.isHidden(call, k.tool.Hash) || k.tool.InvalidHeaders && !x.client.via.Stdio) {
		return x.unknownTool(ctx, k.tool.Name, k.conn)
	}
	var wrong string
	if k.round, wrong = x.openState(k.conn, k.name); wrong != "" {
		return serve.Refuse(x.Message.ID, jsonrpc.InvalidParams, wrong)
	}
	call.Groups = serve.Groups(ctx)
	pending, err := g.gate.Open(ctx, call)
	if err != nil {
		return g.denial(x, refusedOutcome(stopgate.CodePolicyError))
	}
	defer pending.Cancel(ctx)
	if !accepted {
		pending.Refuse(stopgate.CodeToolDefinitionChanged)
	}
	pending.Feed(args)
	pending.Close(stopgate.Ended)
	out, question := k.resolve(ctx, pending)
	if question != nil {
		return *question
	}
	if !out.Allowed() {
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), downstream.ErrCancelled) {
			return reply{}
		}
		return g.denial(x, out)
	}
	if !out.Enforced {
		out.Args = args
	}
	return k.forward(ctx, out)
}

// unknownTool returns the response to a call of a tool that does not exist or is hidden.
// Both get the same response.
func (x *request) unknownTool(ctx context.Context, name stopgate.ToolName, c *conn) reply {
	if c == nil {
		x.client.g.refuseUnknown(ctx, x.client.owner, name, x.Message.ID, stopgate.CodePolicyNotConfigured)
	} else {
		call := x.client.g.call(x.client.owner, c.server, name, nil)
		call.ID = stopgate.CallID(x.Message.ID)
		x.client.g.refuseCall(ctx, call, stopgate.CodePolicyNotConfigured)
	}
	return reply{Text: jsonrpc.AppendError(nil, x.Message.ID, jsonrpc.InvalidParams, "Unknown tool: "+visible.Elide(visible.Text(jsonrpc.TextOf(x.Message.Params, "name")), 140), nil)}
}

// refuseCall records a call that the gateway refuses.
func (g *Gateway) refuseCall(ctx context.Context, call stopgate.Call, code stopgate.Code) stopgate.Outcome {
	call.Groups = serve.Groups(ctx)
	pending, err := g.gate.Open(ctx, call)
	if err != nil {
		return refusedOutcome(code)
	}
	defer pending.Cancel(ctx)
	pending.Refuse(code)
	pending.Close(stopgate.Ended)
	out, err := pending.Resolve(ctx)
	if err != nil && !errors.As(err, new(*gate.Denied)) {
		return refusedOutcome(code)
	}
	return out
}

// refuseUnknown records a refused call whose server is not known.
func (g *Gateway) refuseUnknown(ctx context.Context, o session.Owner, tool stopgate.ToolName, id jsonrpc.ID, code stopgate.Code) {
	g.refuseCall(ctx, stopgate.Call{
		Tool: tool, ID: stopgate.CallID(id), Session: o.Session, Principal: o.Principal, Surface: stopgate.SurfaceMCP, Dialect: dialect,
	}, code)
}

// serverUnavailable denies a call whose server does not return its list of tools.
func (x *request) serverUnavailable(ctx context.Context, c *conn, name stopgate.ToolName, err error) reply {
	if errors.Is(context.Cause(ctx), downstream.ErrCancelled) {
		return reply{}
	}
	x.client.g.log.Warn("a call was denied because its server does not respond", "server", c.Name, "error", err)
	call := x.client.g.call(x.client.owner, c.server, name, &stopgate.ToolDefinition{Name: name})
	call.ID = stopgate.CallID(x.Message.ID)
	out := x.client.g.refuseCall(ctx, call, stopgate.CodeToolUnreachable)
	if out.Allowed() {
		out = refusedOutcome(stopgate.CodeToolUnreachable)
	}
	return x.client.g.denial(x, out)
}

// forward forwards an allowed call and processes its result.
func (k *toolCall) forward(ctx context.Context, out stopgate.Outcome) reply {
	x, c, t := k.x, k.conn, k.tool
	name := string(t.Name)
	r, err := x.askAs(c, name, out.Args, t.HeaderParams.Headers(out.Args), func(e *jsonrpc.Edits) {
		if v, _ := x.Message.Params.Get("name"); !x.client.g.one() {
			e.Replace(v, jsonstream.AppendQuote(nil, name))
		}
		e.Set(x.Message.Params, "arguments", out.Args)
		k.round.RemoveOwn(e, x.Message.Params)
	})
	seen := stopgate.Result{
		Proposal: out.Proposal, Call: stopgate.CallID(x.Message.ID), Session: x.client.owner.Session, Principal: x.client.owner.Principal,
		Tool: canonical(c.server.ID, t.Name), Observed: true, Flagged: true,
	}
	// The facts are recorded even if the client has disconnected.
	seeing := context.WithoutCancel(ctx)
	if err != nil {
		seen.Failed = true
		if _, oops := x.client.g.gate.Observe(seeing, seen); oops != nil {
			x.client.g.log.Warn("recording a result failed", "error", oops)
		}
		if errors.Is(err, downstream.ErrCancelled) {
			return reply{}
		}
		x.client.g.log.Warn("forwarding a call to its server failed", "server", c.Name, "tool", name, "error", err)
		lost := refusedOutcome(stopgate.CodeToolUnreachable)
		if !errors.Is(err, upstream.ErrUnreachable) { // it was sent
			lost.Verdict.Public = "The tool's server did not answer; the call may have run."
		}
		return x.client.g.denial(x, lost)
	}
	return k.deliver(seeing, r, seen, out)
}

// deliver observes a result and returns the response for the client.
func (k *toolCall) deliver(ctx context.Context, r link.Reply, seen stopgate.Result, out stopgate.Outcome) reply {
	x, body := k.x, r.Message.Result
	if r.Message.Kind == jsonrpc.ErrorResponse {
		body, seen.Failed = r.Message.Error, true
	} else if failed, ok := body.Get("isError"); ok && failed.Kind() != jsonstream.False && failed.Kind() != jsonstream.Null {
		seen.Failed = true // any value except false and null: some clients accept it as true
	}
	seen.Data = body.Raw()
	texts := textsOf(body)
	seen.Text, seen.Opaque = texts.text, texts.opaque
	wants := r.Message.Kind == jsonrpc.Response && jsonrpc.TextOf(body, "resultType") == "input_required"
	if wants {
		// The server requests input first. The client repeats the call with it.
		seen.Failed = true
	}
	d, err := x.client.g.gate.Observe(ctx, seen)
	if err != nil {
		x.client.g.log.Warn("recording a result failed", "error", err)
	}
	if texts.more != nil && (d.Delivered() || !out.Enforced) {
		x.client.addText(ctx, gate.Text{Result: &flow.Result{Tool: seen.Tool, Call: seen.Call, Data: texts.more}})
	}
	switch {
	case !out.Enforced:
		return x.forward(r)
	case err != nil || !d.Delivered():
		return x.result(protocol.ToolResult(refusedOutcome(stopgate.CodeResultWithheld).Envelope(), false, x.Modern))
	case wants:
		return x.forwardInputRequests(ctx, k.conn, r, k.name)
	case string(d.Data) != string(seen.Data):
		return x.edited(d.Data)
	}
	return x.forward(r)
}

// edited returns a result that an approver edited: a result object, or its text.
func (x *request) edited(data []byte) reply {
	if v, err := jsonstream.Parse(data, jsonstream.Options{}); err == nil && v.Kind() == jsonstream.Object {
		if content, ok := v.Get("content"); ok && content.Kind() == jsonstream.Array {
			return reply{Text: jsonrpc.SingleLine(jsonrpc.AppendResult(nil, x.Message.ID, data))}
		}
	}
	text := append(jsonstream.AppendQuote([]byte(`{"content":[{"type":"text","text":`), data), "}]"...)
	if x.Modern {
		text = append(text, `,"resultType":"complete"`...)
	}
	return reply{Text: jsonrpc.AppendResult(nil, x.Message.ID, append(text, '}'))}
}
