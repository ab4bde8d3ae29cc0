package mcpgate

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/jsonstream"
)

// round is the earlier round that a request continues, nil if it continues none.
type round struct {
	state     state
	otherArgs bool // the arguments differ: the call is a new one
}

// approvalKey is the key of the gateway's own input request. Servers cannot use keys with
// the prefix ownKeys.
const (
	approvalKey = "stopgate.approval"
	ownKeys     = "stopgate."
)

// argsHash returns the hash that binds a state to its arguments, "" without arguments.
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

// openState decrypts the state of a request. A state that is invalid or of another call
// refuses the request.
func (p *client) openState(m *jsonrpc.Message, x *request, c *conn, name string) (*round, string) {
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
	return &round{state: st, otherArgs: st.Args != argsHash(m)}, ""
}

// removeOwn removes the gateway's own members from a request.
func (r *round) removeOwn(e *jsonrpc.Edits, params jsonstream.Value) {
	if !params.IsValid() {
		return
	}
	drop := map[string]bool{}
	if r != nil {
		if r.otherArgs || r.state.ServerState == nil {
			drop["requestState"] = true
		} else if v, ok := params.Get("requestState"); ok {
			e.Replace(v, jsonstream.AppendQuote(nil, *r.state.ServerState))
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

// newState returns the state for the next round of a call.
func (p *client) newState(m *jsonrpc.Message, c *conn, name string) state {
	now := time.Now()
	return state{
		Principal: p.owner.Principal, Session: p.owner.Session, Server: c.server.ID, Method: m.Method, Name: name,
		Args: argsHash(m), Policy: p.g.gate.PolicyHash(), Issued: now, Expires: now.Add(stateTTL),
	}
}

// forwardInputRequests forwards a server's requests for input if the policy allows all of
// them. A partial answer would not help the server.
func (p *client) forwardInputRequests(ctx context.Context, x *request, c *conn, r link.Reply, m *jsonrpc.Message, name string) reply {
	result := r.Message.Result
	e := r.Message.Edit().ID(x.id)
	inputs, ok := result.Get("inputRequests")
	if ok && inputs.Kind() == jsonstream.Object {
		for key, input := range inputs.Members() {
			out := p.decideInput(ctx, c, key.Text(), input)
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
			return p.refusal(x, refusedOutcome(stopgate.CodeProtocolViolation))
		}
		st := p.newState(m, c, name)
		text := theirs.Text()
		st.ServerState = &text
		e.Replace(theirs, jsonstream.AppendQuote(nil, p.g.seal.seal(st)))
	}
	text, err := e.Text()
	if err != nil {
		return refuse(x.id, jsonrpc.InternalError, "the server's response cannot be forwarded")
	}
	return reply{text: text, status: r.Status, stream: r.Stream}
}

// decideInput decides whether a server can request one input from the client.
func (p *client) decideInput(ctx context.Context, c *conn, key string, input jsonstream.Value) stopgate.Outcome {
	tool, known := methodTables[textOf(input, "method")]
	if !known || strings.HasPrefix(key, ownKeys) {
		return refusedOutcome(stopgate.CodeProtocolViolation)
	}
	args := []byte("{}")
	if params, ok := input.Get("params"); ok {
		args = params.Raw()
	}
	out, err := p.g.decide(ctx, p.g.tableCall(p, c.server, tool), args)
	if err != nil && out.Proposal == "" {
		return refusedOutcome(stopgate.CodePolicyError)
	}
	return out
}

// refusal returns a denial: a tool result for tools/call, an error otherwise.
func (p *client) refusal(x *request, out stopgate.Outcome) reply {
	if x.method == "tools/call" {
		return p.g.denial(x, out)
	}
	env := out.Envelope()
	return reply{text: jsonrpc.AppendError(nil, x.id, jsonrpc.Denied, env.PublicReason, envelopeText(env))}
}

// forwardRound evaluates a request against a table of the policy, if there is one, and
// forwards it. The server may answer with requests for input.
func (p *client) forwardRound(ctx context.Context, c *conn, m *jsonrpc.Message, x *request, name string, table stopgate.ToolName) reply {
	r, wrong := p.openState(m, x, c, name)
	if wrong != "" {
		return refuse(m.ID, jsonrpc.InvalidParams, wrong)
	}
	var out stopgate.Outcome
	if table != "" && p.g.hasTable(table) {
		var err error
		if out, err = p.g.decide(ctx, p.g.tableCall(p, c.server, table), p.argsOf(m, c)); err != nil && out.Proposal == "" {
			out = refusedOutcome(stopgate.CodePolicyError)
		}
		if !out.Allowed() {
			return p.refusal(x, out)
		}
	}
	answer, err := c.passAs(m, x, name, nil, nil, func(e *jsonrpc.Edits) {
		if v, ok := m.Params.Get("name"); ok && m.Method == "prompts/get" && !p.g.one() {
			e.Replace(v, jsonstream.AppendQuote(nil, name))
		}
		r.removeOwn(e, m.Params)
	})
	if out.Proposal != "" {
		seen := stopgate.Result{
			Proposal: out.Proposal, Session: p.owner.Session, Principal: p.owner.Principal, Tool: table, Observed: true, Flagged: true,
			Failed: err != nil || answer.Message.Kind == jsonrpc.ErrorResponse,
		}
		if !seen.Failed {
			seen.Data = answer.Message.Result.Raw()
		}
		d, oops := p.g.gate.Observe(context.WithoutCancel(ctx), seen)
		if err == nil && out.Enforced && (oops != nil || !d.Delivered()) {
			return p.refusal(x, refusedOutcome(stopgate.CodeResultWithheld))
		}
	}
	switch {
	case err != nil:
		return p.unreachable(m.ID, c, err)
	case answer.Message.Kind == jsonrpc.Response && textOf(answer.Message.Result, "resultType") == "input_required":
		return p.forwardInputRequests(ctx, x, c, answer, m, name)
	}
	return p.forward(x, answer)
}

// argsOf returns the arguments for the evaluation: the prompt with its arguments, or the
// resource.
func (p *client) argsOf(m *jsonrpc.Message, c *conn) []byte {
	if m.Method == "resources/read" {
		return append(jsonstream.AppendQuote([]byte(`{"uri":`), textOf(m.Params, "uri")), '}')
	}
	_, inner, _ := p.route(textOf(m.Params, "name"))
	out := jsonstream.AppendQuote([]byte(`{"name":`), string(canonical(c.server.ID, stopgate.ToolName(inner))))
	if arguments, ok := m.Params.Get("arguments"); ok {
		out = append(append(out, `,"arguments":`...), arguments.Raw()...)
	}
	return append(out, '}')
}
