package mcpgate

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/seal"
	"github.com/stopgate/stopgate/jsonstream"
)

// round is the earlier round that a request continues, nil if it continues none.
type round struct {
	state     seal.State
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
func (x *request) openState(c *conn, name string) (*round, string) {
	if !x.modern || !x.m.Params.IsValid() {
		return nil, ""
	}
	v, ok := x.m.Params.Get("requestState")
	if !ok {
		return nil, ""
	}
	if v.Kind() != jsonstream.String {
		return nil, "requestState must be a string"
	}
	st, err := x.p.g.seal.Open(v.Text(), time.Now())
	if err != nil || st.Principal != x.p.owner.Principal || st.Session != x.p.owner.Session || st.Server != c.server.ID || st.Method != x.m.Method || st.Name != name {
		return nil, "requestState is not valid for this request"
	}
	return &round{state: st, otherArgs: st.Args != argsHash(x.m)}, ""
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
	if inputs, ok := jsonrpc.MemberOf(params, "inputResponses"); ok {
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
func (x *request) newState(c *conn, name string) seal.State {
	now := time.Now()
	return seal.State{
		Principal: x.p.owner.Principal, Session: x.p.owner.Session, Server: c.server.ID, Method: x.method, Name: name,
		Args: argsHash(x.m), Policy: x.p.g.gate.PolicyHash(), Issued: now, Expires: now.Add(seal.TTL),
	}
}

// forwardInputRequests forwards a server's requests for input if the policy allows all of
// them. A partial answer would not help the server.
func (x *request) forwardInputRequests(ctx context.Context, c *conn, r link.Reply, name string) reply {
	result := r.Message.Result
	e := r.Message.Edit().ID(x.id)
	inputs, ok := result.Get("inputRequests")
	if ok && inputs.Kind() == jsonstream.Object {
		for key, input := range inputs.Members() {
			out := x.p.decideInput(ctx, c, key.Text(), input)
			if !out.Allowed() {
				return x.refusal(out)
			}
			if params, ok := input.Get("params"); ok && out.Enforced {
				e.Replace(params, out.Args)
			}
		}
	}
	if theirs, ok := result.Get("requestState"); ok {
		if theirs.Kind() != jsonstream.String {
			return x.refusal(refusedOutcome(stopgate.CodeProtocolViolation))
		}
		st := x.newState(c, name)
		text := theirs.Text()
		st.ServerState = &text
		e.Replace(theirs, jsonstream.AppendQuote(nil, x.p.g.seal.Seal(st)))
	}
	text, err := e.Text()
	if err != nil {
		return refuse(x.id, jsonrpc.InternalError, "the server's response cannot be forwarded")
	}
	return reply{text: text, status: r.Status, stream: r.Stream}
}

// decideInput decides whether a server can request one input from the client.
func (p *client) decideInput(ctx context.Context, c *conn, key string, input jsonstream.Value) stopgate.Outcome {
	tool, known := methodTables[jsonrpc.TextOf(input, "method")]
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
func (x *request) refusal(out stopgate.Outcome) reply {
	if x.method == "tools/call" {
		return x.p.g.denial(x, out)
	}
	env := out.Envelope()
	return reply{text: jsonrpc.AppendError(nil, x.id, jsonrpc.Denied, env.PublicReason, envelopeText(env))}
}

// forwardRound evaluates a request against a table of the policy, if there is one, and
// forwards it. The server may answer with requests for input.
func (x *request) forwardRound(ctx context.Context, c *conn, name string, table stopgate.ToolName) reply {
	r, wrong := x.openState(c, name)
	if wrong != "" {
		return refuse(x.m.ID, jsonrpc.InvalidParams, wrong)
	}
	var out stopgate.Outcome
	if table != "" && x.p.g.hasTable(table) {
		var err error
		if out, err = x.p.g.decide(ctx, x.p.g.tableCall(x.p, c.server, table), x.argsOf(c)); err != nil && out.Proposal == "" {
			out = refusedOutcome(stopgate.CodePolicyError)
		}
		if !out.Allowed() {
			return x.refusal(out)
		}
	}
	answer, err := x.askAs(c, name, nil, nil, func(e *jsonrpc.Edits) {
		if v, ok := x.m.Params.Get("name"); ok && x.m.Method == "prompts/get" && !x.p.g.one() {
			e.Replace(v, jsonstream.AppendQuote(nil, name))
		}
		r.removeOwn(e, x.m.Params)
	})
	if out.Proposal != "" {
		seen := stopgate.Result{
			Proposal: out.Proposal, Session: x.p.owner.Session, Principal: x.p.owner.Principal, Tool: table, Observed: true, Flagged: true,
			Failed: err != nil || answer.Message.Kind == jsonrpc.ErrorResponse,
		}
		if !seen.Failed {
			seen.Data = answer.Message.Result.Raw()
		}
		d, oops := x.p.g.gate.Observe(context.WithoutCancel(ctx), seen)
		if err == nil && out.Enforced && (oops != nil || !d.Delivered()) {
			return x.refusal(refusedOutcome(stopgate.CodeResultWithheld))
		}
	}
	switch {
	case err != nil:
		return x.unreachable(c, err)
	case answer.Message.Kind == jsonrpc.Response && jsonrpc.TextOf(answer.Message.Result, "resultType") == "input_required":
		return x.forwardInputRequests(ctx, c, answer, name)
	}
	return x.forward(answer)
}

// argsOf returns the arguments for the evaluation: the prompt with its arguments, or the
// resource.
func (x *request) argsOf(c *conn) []byte {
	if x.m.Method == "resources/read" {
		return append(jsonstream.AppendQuote([]byte(`{"uri":`), jsonrpc.TextOf(x.m.Params, "uri")), '}')
	}
	_, inner, _ := x.p.route(jsonrpc.TextOf(x.m.Params, "name"))
	out := jsonstream.AppendQuote([]byte(`{"name":`), string(canonical(c.server.ID, stopgate.ToolName(inner))))
	if arguments, ok := x.m.Params.Get("arguments"); ok {
		out = append(append(out, `,"arguments":`...), arguments.Raw()...)
	}
	return append(out, '}')
}
