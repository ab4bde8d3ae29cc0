package mcpgate

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// toolCall is one tools/call of the client.
type toolCall struct {
	x     *request
	conn  *conn
	tool  *tool
	name  string // the client's name for the tool
	round *round
}

// callTool evaluates a call and forwards it to its server if it is allowed.
func (x *request) callTool(ctx context.Context) reply {
	name := jsonrpc.TextOf(x.m.Params, "name")
	if name == "" {
		return refuse(x.id, jsonrpc.InvalidParams, "tools/call has no tool name")
	}
	c, inner, ok := x.p.route(name)
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
	x, g := k.x, k.x.p.g
	args := []byte("{}")
	arguments, given := x.m.Params.Get("arguments")
	if given {
		args = arguments.Raw()
	}
	accepted := k.conn.accepted(k.tool)
	call := k.conn.callOf(k.tool, accepted)
	call.ID = stopgate.CallID(x.id)
	if x.header != nil { // HTTP, in the revision without sessions
		if wrong := k.tool.headerParams.Compare(x.header, arguments); wrong != "" {
			x.p.refuseCall(ctx, call, stopgate.CodeEnvelopeMismatch)
			return refuse(x.id, jsonrpc.HeaderMismatch, wrong)
		}
	}
	if g.gate.Enforced() && (g.isHidden(call, k.tool.Hash) || k.tool.invalidHeaders && !x.p.stdio) {
		return x.unknownTool(ctx, k.tool.Name, k.conn)
	}
	var wrong string
	if k.round, wrong = x.openState(k.conn, k.name); wrong != "" {
		return refuse(x.id, jsonrpc.InvalidParams, wrong)
	}
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
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), errCancelled) {
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
	call := stopgate.Call{Tool: name, Session: x.p.owner.Session, Principal: x.p.owner.Principal, Surface: stopgate.SurfaceMCP, Dialect: dialect, ID: stopgate.CallID(x.m.ID)}
	if c != nil {
		call = x.p.g.call(x.p.owner, c.server, name, nil)
		call.ID = stopgate.CallID(x.m.ID)
	}
	x.p.refuseCall(ctx, call, stopgate.CodePolicyNotConfigured)
	return reply{text: jsonrpc.AppendError(nil, x.id, jsonrpc.InvalidParams, "Unknown tool: "+visible.Elide(visible.Text(jsonrpc.TextOf(x.m.Params, "name")), 140), nil)}
}

// refuseCall records a call that the gateway refuses.
func (p *client) refuseCall(ctx context.Context, call stopgate.Call, code stopgate.Code) stopgate.Outcome {
	pending, err := p.g.gate.Open(ctx, call)
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

// serverUnavailable denies a call whose server does not return its list of tools.
func (x *request) serverUnavailable(ctx context.Context, c *conn, name stopgate.ToolName, err error) reply {
	if errors.Is(context.Cause(ctx), errCancelled) {
		return reply{}
	}
	x.p.g.log.Warn("a call was denied because its server does not respond", "server", c.name(), "error", err)
	call := x.p.g.call(x.p.owner, c.server, name, &stopgate.ToolDefinition{Name: name})
	call.ID = stopgate.CallID(x.m.ID)
	out := x.p.refuseCall(ctx, call, stopgate.CodeToolUnreachable)
	if out.Allowed() {
		out = refusedOutcome(stopgate.CodeToolUnreachable)
	}
	return x.p.g.denial(x, out)
}

// forward forwards an allowed call and processes its result.
func (k *toolCall) forward(ctx context.Context, out stopgate.Outcome) reply {
	x, c, t := k.x, k.conn, k.tool
	name := string(t.Name)
	r, err := x.askAs(c, name, out.Args, t.headerParams.Headers(out.Args), func(e *jsonrpc.Edits) {
		if v, _ := x.m.Params.Get("name"); !x.p.g.one() {
			e.Replace(v, jsonstream.AppendQuote(nil, name))
		}
		e.Set(x.m.Params, "arguments", out.Args)
		k.round.removeOwn(e, x.m.Params)
	})
	seen := stopgate.Result{
		Proposal: out.Proposal, Call: stopgate.CallID(x.m.ID), Session: x.p.owner.Session, Principal: x.p.owner.Principal,
		Tool: canonical(c.server.ID, t.Name), Observed: true, Flagged: true,
	}
	// The facts are recorded even if the client has disconnected.
	seeing := context.WithoutCancel(ctx)
	if err != nil {
		seen.Failed = true
		if _, oops := x.p.g.gate.Observe(seeing, seen); oops != nil {
			x.p.g.log.Warn("recording a result failed", "error", oops)
		}
		if errors.Is(err, errCancelled) {
			return reply{}
		}
		x.p.g.log.Warn("forwarding a call to its server failed", "server", c.name(), "tool", name, "error", err)
		lost := refusedOutcome(stopgate.CodeToolUnreachable)
		if !errors.Is(err, errUnreachable) { // it was sent
			lost.Verdict.Public = "The tool's server did not answer; the call may have run."
		}
		return x.p.g.denial(x, lost)
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
	wants := r.Message.Kind == jsonrpc.Response && jsonrpc.TextOf(body, "resultType") == "input_required"
	if wants {
		// The server requests input first. The client repeats the call with it.
		seen.Failed = true
	}
	d, err := x.p.g.gate.Observe(ctx, seen)
	if err != nil {
		x.p.g.log.Warn("recording a result failed", "error", err)
	}
	switch {
	case !out.Enforced:
		return x.forward(r)
	case err != nil || !d.Delivered():
		return reply{text: result(x, refusedOutcome(stopgate.CodeResultWithheld).Envelope(), false)}
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
			return reply{text: jsonrpc.SingleLine(appendResult(x.id, data))}
		}
	}
	text := append(jsonstream.AppendQuote([]byte(`{"content":[{"type":"text","text":`), data), "}]"...)
	if x.modern {
		text = append(text, `,"resultType":"complete"`...)
	}
	return reply{text: appendResult(x.id, append(text, '}'))}
}
