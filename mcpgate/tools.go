package mcpgate

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/mcp/definition"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxTTL limits how long a client may cache a list, because the policy can change.
const maxTTL = time.Minute

// listTools handles tools/list. It lists the tools that the policy can allow for the
// client.
func (p *client) listTools(ctx context.Context, m *jsonrpc.Message, x *request) reply {
	seen := map[string]bool{}
	return p.listPage(ctx, m, x, func(c *conn, e *jsonrpc.Edits, result jsonstream.Value) {
		list, ok := result.Get("tools")
		if !ok || list.Kind() != jsonstream.Array {
			return
		}
		e.RemoveElements(list, func(v jsonstream.Value) bool {
			t := c.addTool(v)
			if t == nil || seen[c.clientName(string(t.Name))] || !c.offered(t) {
				return true
			}
			seen[c.clientName(string(t.Name))] = true
			if name, _ := v.Get("name"); !p.g.one() {
				e.Replace(name, jsonstream.AppendQuote(nil, c.clientName(name.Text())))
			}
			c.escapeDescription(e, v, t.Name)
			return false
		})
		if !x.modern {
			return
		}
		e.Set(result, "cacheScope", []byte(`"private"`))
		if ttl, ok := result.Get("ttlMs"); ok {
			if d, ok := ttl.Decimal(); ok {
				if ms, ok := d.Int64(); !ok || ms > maxTTL.Milliseconds() {
					e.Replace(ttl, strconv.AppendInt(nil, maxTTL.Milliseconds(), 10))
				}
			}
		}
	})
}

// escapeDescription escapes hidden characters in the texts of a definition that a model
// reads (G6).
func (c *conn) escapeDescription(e *jsonrpc.Edits, v jsonstream.Value, name stopgate.ToolName) {
	hidden := definition.VisitHidden(v, func(v jsonstream.Value, shown string) { e.Replace(v, jsonstream.AppendQuote(nil, shown)) })
	if hidden > 0 {
		c.p.g.log.Warn("hidden characters in a tool's description were escaped", "server", c.name(), "tool", name, "count", hidden)
	}
}

// callTool evaluates a call and forwards it to its server if it is allowed.
func (p *client) callTool(ctx context.Context, m *jsonrpc.Message, x *request) reply {
	name := textOf(m.Params, "name")
	if name == "" {
		return refuse(m.ID, jsonrpc.InvalidParams, "tools/call has no tool name")
	}
	args := []byte("{}")
	arguments, given := m.Params.Get("arguments")
	if given {
		args = arguments.Raw()
	}
	c, inner, ok := p.route(name)
	if !ok {
		return p.unknownTool(ctx, m, x, stopgate.ToolName(name), nil)
	}
	t, err := c.findTool(ctx, stopgate.ToolName(inner), x)
	switch {
	case err != nil:
		return p.serverUnavailable(ctx, m, x, c, stopgate.ToolName(inner), err)
	case t == nil:
		return p.unknownTool(ctx, m, x, stopgate.ToolName(inner), c)
	}
	if x.header != nil { // HTTP, in the revision without sessions
		if wrong := t.headerParams.Compare(x.header, arguments); wrong != "" {
			return p.headerMismatch(ctx, m, x, c, t, wrong)
		}
	}
	accepted := c.accepted(t)
	call := c.callOf(t, accepted)
	call.ID = stopgate.CallID(m.ID)
	if p.g.gate.Enforced() && (p.g.isHidden(call, t.Hash) || t.invalidHeaders && !p.stdio) {
		return p.unknownTool(ctx, m, x, t.Name, c)
	}
	round, wrong := p.openState(m, x, c, name)
	if wrong != "" {
		return refuse(m.ID, jsonrpc.InvalidParams, wrong)
	}
	pending, err := p.g.gate.Open(ctx, call)
	if err != nil {
		return p.g.denial(x, refusedOutcome(stopgate.CodePolicyError))
	}
	defer pending.Cancel(ctx)
	if !accepted {
		pending.Refuse(stopgate.CodeToolDefinitionChanged)
	}
	pending.Feed(args)
	pending.Close(stopgate.Ended)
	out, question := p.resolve(ctx, m, x, pending, c, name, round)
	if question != nil {
		return *question
	}
	if !out.Allowed() {
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), errCancelled) {
			return reply{}
		}
		return p.g.denial(x, out)
	}
	if !out.Enforced {
		out.Args = args
	}
	return p.forwardCall(ctx, m, x, c, t, out, round)
}

// unknownTool returns the response to a call of a tool that does not exist or is hidden.
// Both get the same response.
func (p *client) unknownTool(ctx context.Context, m *jsonrpc.Message, x *request, name stopgate.ToolName, c *conn) reply {
	call := stopgate.Call{Tool: name, Session: p.owner.Session, Principal: p.owner.Principal, Surface: stopgate.SurfaceMCP, Dialect: dialect, ID: stopgate.CallID(m.ID)}
	if c != nil {
		call = p.g.call(p.owner, c.server, name, nil)
		call.ID = stopgate.CallID(m.ID)
	}
	p.refuseCall(ctx, call, stopgate.CodePolicyNotConfigured)
	return reply{text: jsonrpc.AppendError(nil, x.id, jsonrpc.InvalidParams, "Unknown tool: "+visible.Elide(visible.Text(textOf(m.Params, "name")), 140), nil)}
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
func (p *client) serverUnavailable(ctx context.Context, m *jsonrpc.Message, x *request, c *conn, name stopgate.ToolName, err error) reply {
	if errors.Is(context.Cause(ctx), errCancelled) {
		return reply{}
	}
	p.g.log.Warn("a call was denied because its server does not respond", "server", c.name(), "error", err)
	call := p.g.call(p.owner, c.server, name, &stopgate.ToolDefinition{Name: name})
	call.ID = stopgate.CallID(m.ID)
	out := p.refuseCall(ctx, call, stopgate.CodeToolUnreachable)
	if out.Allowed() {
		out = refusedOutcome(stopgate.CodeToolUnreachable)
	}
	return p.g.denial(x, out)
}

// headerMismatch refuses a call whose headers differ from its body.
func (p *client) headerMismatch(ctx context.Context, m *jsonrpc.Message, x *request, c *conn, t *tool, wrong string) reply {
	accepted := c.accepted(t)
	call := c.callOf(t, accepted)
	call.ID = stopgate.CallID(m.ID)
	p.refuseCall(ctx, call, stopgate.CodeEnvelopeMismatch)
	return refuse(x.id, jsonrpc.HeaderMismatch, wrong)
}

// forwardCall forwards an allowed call and processes its result.
func (p *client) forwardCall(ctx context.Context, m *jsonrpc.Message, x *request, c *conn, t *tool, out stopgate.Outcome, round *round) reply {
	name := string(t.Name)
	r, err := c.passAs(m, x, name, out.Args, t.headerParams.Headers(out.Args), func(e *jsonrpc.Edits) {
		if v, _ := m.Params.Get("name"); !p.g.one() {
			e.Replace(v, jsonstream.AppendQuote(nil, name))
		}
		e.Set(m.Params, "arguments", out.Args)
		round.removeOwn(e, m.Params)
	})
	seen := stopgate.Result{
		Proposal: out.Proposal, Call: stopgate.CallID(m.ID), Session: p.owner.Session, Principal: p.owner.Principal,
		Tool: canonical(c.server.ID, t.Name), Observed: true, Flagged: true,
	}
	// The facts are recorded even if the client has disconnected.
	seeing := context.WithoutCancel(ctx)
	if err != nil {
		seen.Failed = true
		if _, oops := p.g.gate.Observe(seeing, seen); oops != nil {
			p.g.log.Warn("recording a result failed", "error", oops)
		}
		if errors.Is(err, errCancelled) {
			return reply{}
		}
		p.g.log.Warn("forwarding a call to its server failed", "server", c.name(), "tool", name, "error", err)
		lost := refusedOutcome(stopgate.CodeToolUnreachable)
		if !errors.Is(err, errUnreachable) { // it was sent
			lost.Verdict.Public = "The tool's server did not answer; the call may have run."
		}
		return p.g.denial(x, lost)
	}
	return p.deliver(seeing, m, x, c, r, seen, out)
}

// deliver observes a result and returns the response for the client.
func (p *client) deliver(ctx context.Context, m *jsonrpc.Message, x *request, c *conn, r link.Reply, seen stopgate.Result, out stopgate.Outcome) reply {
	body := r.Message.Result
	if r.Message.Kind == jsonrpc.ErrorResponse {
		body, seen.Failed = r.Message.Error, true
	} else if failed, ok := body.Get("isError"); ok && failed.Kind() != jsonstream.False && failed.Kind() != jsonstream.Null {
		seen.Failed = true // any value except false and null: some clients accept it as true
	}
	seen.Data = body.Raw()
	wants := r.Message.Kind == jsonrpc.Response && textOf(body, "resultType") == "input_required"
	if wants {
		// The server requests input first. The client repeats the call with it.
		seen.Failed = true
	}
	d, err := p.g.gate.Observe(ctx, seen)
	if err != nil {
		p.g.log.Warn("recording a result failed", "error", err)
	}
	switch {
	case !out.Enforced:
		return p.forward(x, r)
	case err != nil || !d.Delivered():
		return reply{text: result(x, refusedOutcome(stopgate.CodeResultWithheld).Envelope(), false)}
	case wants:
		return p.forwardInputRequests(ctx, x, c, r, m, textOf(m.Params, "name"))
	case string(d.Data) != string(seen.Data):
		return p.edited(x, d.Data)
	}
	return p.forward(x, r)
}

// edited returns a result that an approver edited: a result object, or its text.
func (p *client) edited(x *request, data []byte) reply {
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

func appendResult(id jsonrpc.ID, result []byte) []byte { return jsonrpc.AppendResult(nil, id, result) }
