package mcpgate

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/mcpgate/link"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// round is what a request that comes back with a state continues. nil is a request
// that continues nothing.
type round struct {
	state state
	void  bool // for other arguments: the call is a new one
}

// approvalKey is the gate's own among the inputs that a client is asked for; servers
// cannot use names that begin like it.
const (
	approvalKey = "stopgate.approval"
	ownKeys     = "stopgate."
)

// argsHash is what binds a state to its arguments.
func argsHash(m *jsonrpc.Message) string {
	var v jsonstream.Value
	if m.Params.IsValid() {
		v, _ = m.Params.Get("arguments")
	}
	if !v.IsValid() {
		return ""
	}
	sum := jsonstream.HashCanonical(v)
	return hex.EncodeToString(sum[:])
}

// reopen opens the state of a request. What is not the gate's own, or another call's,
// refuses the request and changes nothing (WIRE 8.6).
func (p *peer) reopen(m *jsonrpc.Message, x *exchange, c *conn, name string) (*round, string) {
	if !x.modern || !m.Params.IsValid() {
		return nil, ""
	}
	v, ok := m.Params.Get("requestState")
	if !ok {
		return nil, ""
	}
	if v.Kind() != jsonstream.String {
		return nil, "requestState must be a string"
	}
	st, err := p.g.seal.open(v.Text(), time.Now())
	if err != nil || st.Principal != p.owner.Principal || st.Session != p.owner.Session || st.Server != c.server.ID || st.Method != m.Method || st.Name != name {
		return nil, "requestState is not valid for this request"
	}
	return &round{state: st, void: st.Args != argsHash(m)}, ""
}

// unwrap takes out of a request what is the gate's own.
func (r *round) unwrap(e *jsonrpc.Edits, params jsonstream.Value) {
	if !params.IsValid() {
		return
	}
	drop := map[string]bool{}
	if r != nil {
		if r.void || r.state.Theirs == nil {
			drop["requestState"] = true
		} else if v, ok := params.Get("requestState"); ok {
			e.Replace(v, jsonstream.AppendQuote(nil, *r.state.Theirs))
		}
	}
	if inputs, ok := memberOf(params, "inputResponses"); ok {
		if _, ours := inputs.Get(approvalKey); ours && inputs.Len() == 1 {
			drop["inputResponses"] = true
		} else if ours {
			e.Remove(inputs, func(name string) bool { return name == approvalKey })
		}
	}
	if len(drop) > 0 {
		e.Remove(params, func(name string) bool { return drop[name] })
	}
}

// newState is the state of a round of a call.
func (p *peer) newState(m *jsonrpc.Message, c *conn, name string) state {
	now := time.Now()
	return state{
		Principal: p.owner.Principal, Session: p.owner.Session, Server: c.server.ID, Method: m.Method, Name: name,
		Args: argsHash(m), Policy: p.g.gate.PolicyHash(), Issued: now, Expires: now.Add(stateLife),
	}
}

// wrap forwards a server's request for input, if the policy lets the server ask for all
// of it: a partial answer would not help the server (WIRE 8.3).
func (p *peer) wrap(ctx context.Context, x *exchange, c *conn, r link.Reply, m *jsonrpc.Message, name string) reply {
	result := r.Message.Result
	e := r.Message.Edit().ID(x.id)
	inputs, ok := result.Get("inputRequests")
	if ok && inputs.Kind() == jsonstream.Object {
		for key, input := range inputs.Members() {
			out := p.mayInput(ctx, c, key.Text(), input)
			if !out.Allowed() {
				return p.refusal(x, out)
			}
			if params, ok := input.Get("params"); ok && out.Enforced {
				e.Replace(params, out.Args)
			}
		}
	}
	if theirs, ok := result.Get("requestState"); ok {
		if theirs.Kind() != jsonstream.String {
			return p.refusal(x, refused(stopgate.CodeProtocolViolation))
		}
		st := p.newState(m, c, name)
		text := theirs.Text()
		st.Theirs = &text
		e.Replace(theirs, jsonstream.AppendQuote(nil, p.g.seal.seal(st)))
	}
	text, err := e.Text()
	if err != nil {
		return refuse(x.id, jsonrpc.InternalError, "the server's answer cannot be forwarded")
	}
	return reply{text: text, status: r.Status, stream: r.Stream}
}

// mayInput decides whether a server may ask the client for one input.
func (p *peer) mayInput(ctx context.Context, c *conn, key string, input jsonstream.Value) stopgate.Outcome {
	tool, known := askMethods[textOf(input, "method")]
	if !known || strings.HasPrefix(key, ownKeys) {
		return refused(stopgate.CodeProtocolViolation)
	}
	args := []byte("{}")
	if params, ok := input.Get("params"); ok {
		args = params.Raw()
	}
	out, err := p.g.decide(ctx, p.g.ask(p, c.server, tool), args)
	if err != nil && out.Proposal == "" {
		return refused(stopgate.CodePolicyError)
	}
	return out
}

// refusal answers any request with a denial: a tool's result, else an error.
func (p *peer) refusal(x *exchange, out stopgate.Outcome) reply {
	if x.method == "tools/call" {
		return p.g.denial(x, out)
	}
	env := out.Envelope()
	return reply{text: jsonrpc.AppendError(nil, x.id, jsonrpc.Denied, env.PublicReason, envelopeText(env))}
}

// round forwards a request that may take several rounds, past a table of the policy if
// there is one.
func (p *peer) round(ctx context.Context, c *conn, m *jsonrpc.Message, x *exchange, name string, table stopgate.ToolName) reply {
	r, wrong := p.reopen(m, x, c, name)
	if wrong != "" {
		return refuse(m.ID, jsonrpc.InvalidParams, wrong)
	}
	var out stopgate.Outcome
	if table != "" && p.g.has(table) {
		var err error
		if out, err = p.g.decide(ctx, p.g.ask(p, c.server, table), p.argsOf(m, c)); err != nil && out.Proposal == "" {
			out = refused(stopgate.CodePolicyError)
		}
		if !out.Allowed() {
			return p.refusal(x, out)
		}
	}
	answer, err := c.passAs(m, x, name, nil, nil, func(e *jsonrpc.Edits) {
		if v, ok := m.Params.Get("name"); ok && m.Method == "prompts/get" && !p.g.one() {
			e.Replace(v, jsonstream.AppendQuote(nil, name))
		}
		r.unwrap(e, m.Params)
	})
	if out.Proposal != "" {
		seen := stopgate.Result{
			Proposal: out.Proposal, Session: p.owner.Session, Principal: p.owner.Principal, Tool: table, Observed: true, Flagged: true,
			Failed: err != nil || answer.Message.Kind == jsonrpc.Failure,
		}
		if !seen.Failed {
			seen.Data = answer.Message.Result.Raw()
		}
		d, oops := p.g.gate.Observe(context.WithoutCancel(ctx), seen)
		if err == nil && out.Enforced && (oops != nil || !d.Delivered()) {
			return p.refusal(x, refused(stopgate.CodeResultWithheld))
		}
	}
	switch {
	case err != nil:
		return p.unreachable(m.ID, c, err)
	case answer.Message.Kind == jsonrpc.Response && textOf(answer.Message.Result, "resultType") == "input_required":
		return p.wrap(ctx, x, c, answer, m, name)
	}
	return p.forward(x, answer)
}

// argsOf is what a request is judged by: the prompt with its arguments, or the resource.
func (p *peer) argsOf(m *jsonrpc.Message, c *conn) []byte {
	if m.Method == "resources/read" {
		return append(jsonstream.AppendQuote([]byte(`{"uri":`), textOf(m.Params, "uri")), '}')
	}
	_, inner, _ := p.split(textOf(m.Params, "name"))
	out := jsonstream.AppendQuote([]byte(`{"name":`), string(canonical(c.server.ID, stopgate.ToolName(inner))))
	if arguments, ok := m.Params.Get("arguments"); ok {
		out = append(append(out, `,"arguments":`...), arguments.Raw()...)
	}
	return append(out, '}')
}
