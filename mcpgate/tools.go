package mcpgate

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/mcpgate/definition"
	"github.com/stopgate/stopgate/mcpgate/link"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// longestTTL is how long a client may keep a list: then it sees what another policy
// shows.
const longestTTL = time.Minute

// listTools answers tools/list with the tools that the client can ever run (WIRE 8.4).
func (p *peer) listTools(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
	seen := map[string]bool{}
	return p.page(ctx, m, x, func(c *conn, e *jsonrpc.Edits, result jsonstream.Value) {
		list, ok := result.Get("tools")
		if !ok || list.Kind() != jsonstream.Array {
			return
		}
		e.RemoveElements(list, func(v jsonstream.Value) bool {
			t := c.learn(v)
			if t == nil || seen[c.joined(string(t.Name))] || !c.shown(t) {
				return true
			}
			seen[c.joined(string(t.Name))] = true
			if name, _ := v.Get("name"); !p.g.one() {
				e.Replace(name, jsonstream.AppendQuote(nil, c.joined(name.Text())))
			}
			c.clean(e, v, t.Name)
			return false
		})
		if !x.modern {
			return
		}
		e.Set(result, "cacheScope", []byte(`"private"`))
		if ttl, ok := result.Get("ttlMs"); ok {
			if d, ok := ttl.Decimal(); ok {
				if ms, ok := d.Int64(); !ok || ms > longestTTL.Milliseconds() {
					e.Replace(ttl, strconv.AppendInt(nil, longestTTL.Milliseconds(), 10))
				}
			}
		}
	})
}

// clean shows what a definition hides: characters that nobody sees are written as
// escapes in the texts that a model reads (THREATS G6).
func (c *conn) clean(e *jsonrpc.Edits, v jsonstream.Value, name stopgate.ToolName) {
	hidden := definition.Hiding(v, func(v jsonstream.Value, shown string) { e.Replace(v, jsonstream.AppendQuote(nil, shown)) })
	if hidden > 0 {
		c.p.g.log.Warn("a tool's description holds hidden characters: they are shown as escapes", "server", c.name(), "tool", name, "count", hidden)
	}
}

// callTool takes a call through the gate and, if it may run, to its server.
func (p *peer) callTool(ctx context.Context, m *jsonrpc.Message, x *exchange) reply {
	name := textOf(m.Params, "name")
	if name == "" {
		return refuse(m.ID, jsonrpc.InvalidParams, "a call needs the name of a tool")
	}
	args := []byte("{}")
	arguments, given := m.Params.Get("arguments")
	if given {
		args = arguments.Raw()
	}
	c, inner, ok := p.split(name)
	if !ok {
		return p.unknown(ctx, m, x, stopgate.ToolName(name), nil)
	}
	t, err := c.find(ctx, stopgate.ToolName(inner), x)
	switch {
	case err != nil:
		return p.lost(ctx, m, x, c, stopgate.ToolName(inner), err)
	case t == nil:
		return p.unknown(ctx, m, x, stopgate.ToolName(inner), c)
	}
	if x.header != nil { // HTTP, in the revision without sessions
		if wrong := t.marks.Compare(x.header, arguments); wrong != "" {
			return p.mismatch(ctx, m, x, c, t, wrong)
		}
	}
	accepted := c.accepted(t)
	call := c.proposed(t, accepted)
	call.ID = stopgate.CallID(m.ID)
	if p.g.gate.Enforced() && (p.g.never(call, t.Hash) || t.invalid && !p.stdio) {
		return p.unknown(ctx, m, x, t.Name, c)
	}
	round, wrong := p.reopen(m, x, c, name)
	if wrong != "" {
		return refuse(m.ID, jsonrpc.InvalidParams, wrong)
	}
	pending, err := p.g.gate.Open(ctx, call)
	if err != nil {
		return p.g.denial(x, refused(stopgate.CodePolicyError))
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
	return p.run(ctx, m, x, c, t, out, round)
}

// unknown answers a call of a tool that is not there, or not for this client: both get
// the same answer (WIRE 8.4).
func (p *peer) unknown(ctx context.Context, m *jsonrpc.Message, x *exchange, name stopgate.ToolName, c *conn) reply {
	call := stopgate.Call{Tool: name, Session: p.owner.Session, Principal: p.owner.Principal, Surface: stopgate.SurfaceMCP, Dialect: dialect, ID: stopgate.CallID(m.ID)}
	if c != nil {
		call = p.g.call(p.owner, c.server, name, nil)
		call.ID = stopgate.CallID(m.ID)
	}
	p.refuseCall(ctx, call, stopgate.CodePolicyNotConfigured)
	return reply{text: jsonrpc.AppendError(nil, x.id, jsonrpc.InvalidParams, "Unknown tool: "+visible.Elide(visible.Text(textOf(m.Params, "name")), 140), nil)}
}

// refuseCall records a call that the surface refuses.
func (p *peer) refuseCall(ctx context.Context, call stopgate.Call, code stopgate.Code) stopgate.Outcome {
	pending, err := p.g.gate.Open(ctx, call)
	if err != nil {
		return refused(code)
	}
	defer pending.Cancel(ctx)
	pending.Refuse(code)
	pending.Close(stopgate.Ended)
	out, err := pending.Resolve(ctx)
	if err != nil && !errors.As(err, new(*gate.Denied)) {
		return refused(code)
	}
	return out
}

// lost answers a call whose server does not say what its tools are.
func (p *peer) lost(ctx context.Context, m *jsonrpc.Message, x *exchange, c *conn, name stopgate.ToolName, err error) reply {
	if errors.Is(context.Cause(ctx), errCancelled) {
		return reply{}
	}
	p.g.log.Warn("a call is denied: its server does not answer", "server", c.name(), "error", err)
	call := p.g.call(p.owner, c.server, name, &stopgate.ToolDefinition{Name: name})
	call.ID = stopgate.CallID(m.ID)
	out := p.refuseCall(ctx, call, stopgate.CodeToolUnreachable)
	if out.Allowed() {
		out = refused(stopgate.CodeToolUnreachable)
	}
	return p.g.denial(x, out)
}

// mismatch refuses a call whose headers say something else than its body (WIRE 8.7).
func (p *peer) mismatch(ctx context.Context, m *jsonrpc.Message, x *exchange, c *conn, t *tool, wrong string) reply {
	accepted := c.accepted(t)
	call := c.proposed(t, accepted)
	call.ID = stopgate.CallID(m.ID)
	p.refuseCall(ctx, call, stopgate.CodeEnvelopeMismatch)
	return refuse(x.id, jsonrpc.HeaderMismatch, wrong)
}

// run forwards an allowed call and sees to its result.
func (p *peer) run(ctx context.Context, m *jsonrpc.Message, x *exchange, c *conn, t *tool, out stopgate.Outcome, round *round) reply {
	name := string(t.Name)
	r, err := c.passAs(m, x, name, out.Args, t.marks.Headers(out.Args), func(e *jsonrpc.Edits) {
		if v, _ := m.Params.Get("name"); !p.g.one() {
			e.Replace(v, jsonstream.AppendQuote(nil, name))
		}
		e.Set(m.Params, "arguments", out.Args)
		round.unwrap(e, m.Params)
	})
	seen := stopgate.Result{
		Proposal: out.Proposal, Call: stopgate.CallID(m.ID), Session: p.owner.Session, Principal: p.owner.Principal,
		Tool: canonical(c.server.ID, t.Name), Observed: true, Flagged: true,
	}
	// The facts outlive a client that is gone.
	seeing := context.WithoutCancel(ctx)
	if err != nil {
		seen.Failed = true
		if _, oops := p.g.gate.Observe(seeing, seen); oops != nil {
			p.g.log.Warn("a result could not be recorded", "error", oops)
		}
		if errors.Is(err, errCancelled) {
			return reply{}
		}
		p.g.log.Warn("a call did not reach its server, or has no answer", "server", c.name(), "tool", name, "error", err)
		lost := refused(stopgate.CodeToolUnreachable)
		if !errors.Is(err, errUnreachable) { // it was sent
			lost.Verdict.Public = "The tool's server did not answer; the call may have run."
		}
		return p.g.denial(x, lost)
	}
	return p.deliver(seeing, m, x, c, r, seen, out)
}

// deliver observes a result and answers with what of it reaches the model.
func (p *peer) deliver(ctx context.Context, m *jsonrpc.Message, x *exchange, c *conn, r link.Reply, seen stopgate.Result, out stopgate.Outcome) reply {
	body := r.Message.Result
	if r.Message.Kind == jsonrpc.Failure {
		body, seen.Failed = r.Message.Error, true
	} else if failed, ok := body.Get("isError"); ok && failed.Kind() != jsonstream.False && failed.Kind() != jsonstream.Null {
		seen.Failed = true // also a word for it that some clients take for true
	}
	seen.Data = body.Raw()
	wants := r.Message.Kind == jsonrpc.Response && textOf(body, "resultType") == "input_required"
	if wants {
		// Not a result: the server asks first. The call comes back as a new one.
		seen.Failed = true
	}
	d, err := p.g.gate.Observe(ctx, seen)
	if err != nil {
		p.g.log.Warn("a result could not be recorded", "error", err)
	}
	switch {
	case !out.Enforced:
		return p.forward(x, r)
	case err != nil || !d.Delivered():
		return reply{text: result(x, refused(stopgate.CodeResultWithheld).Envelope(), false)}
	case wants:
		return p.wrap(ctx, x, c, r, m, textOf(m.Params, "name"))
	case string(d.Data) != string(seen.Data):
		return p.edited(x, d.Data)
	}
	return p.forward(x, r)
}

// edited answers with a result that a person changed: the result object, or the text
// of it.
func (p *peer) edited(x *exchange, data []byte) reply {
	if v, err := jsonstream.Parse(data, jsonstream.Options{}); err == nil && v.Kind() == jsonstream.Object {
		if content, ok := v.Get("content"); ok && content.Kind() == jsonstream.Array {
			return reply{text: jsonrpc.Line(appendResult(x.id, data))}
		}
	}
	text := append(jsonstream.AppendQuote([]byte(`{"content":[{"type":"text","text":`), data), "}]"...)
	if x.modern {
		text = append(text, `,"resultType":"complete"`...)
	}
	return reply{text: appendResult(x.id, append(text, '}'))}
}

func appendResult(id jsonrpc.ID, result []byte) []byte { return jsonrpc.AppendResult(nil, id, result) }
