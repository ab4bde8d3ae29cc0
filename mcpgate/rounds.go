package mcpgate

import (
	"context"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/internal/mcp/round"
	"github.com/stopgate/stopgate/internal/mcp/serve"
	"github.com/stopgate/stopgate/jsonstream"
)

// openState returns the earlier round that a request continues, nil if it continues none.
func (x *request) openState(c *conn, name string) (*round.Round, string) {
	if !x.Modern {
		return nil, ""
	}
	return x.client.g.sealer.Continue(x.Message, x.roundCall(c, name))
}

// newState returns the state for the next round of a call.
func (x *request) newState(c *conn, name string) round.State {
	return round.NewState(x.roundCall(c, name), x.Message, x.client.g.gate.PolicyHash())
}

// roundCall returns the call that a state is valid for.
func (x *request) roundCall(c *conn, name string) round.Call {
	return round.Call{Principal: x.client.owner.Principal, Session: x.client.owner.Session, Server: c.server.ID, Method: x.Message.Method, Name: name}
}

// forwardInputRequests forwards a server's requests for input if the policy allows all of
// them. A partial answer would not help the server.
func (x *request) forwardInputRequests(ctx context.Context, c *conn, r link.Reply, name string) reply {
	result := r.Message.Result
	e := r.Message.Edit().ID(x.Message.ID)
	inputs, ok := result.Get("inputRequests")
	if ok && inputs.Kind() == jsonstream.Object {
		for key, input := range inputs.Members() {
			out := x.client.decideInput(ctx, c, key.Text(), input)
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
		e.Replace(theirs, jsonstream.AppendQuote(nil, x.client.g.sealer.Seal(st)))
	}
	text, err := e.Text()
	if err != nil {
		return serve.Refuse(x.Message.ID, jsonrpc.InternalError, "the server's response cannot be forwarded")
	}
	return reply{Text: text, Status: r.Status, Stream: r.Stream}
}

// decideInput decides whether a server can request one input from the client.
func (p *client) decideInput(ctx context.Context, c *conn, key string, input jsonstream.Value) stopgate.Outcome {
	tool, known := methodTables[jsonrpc.TextOf(input, "method")]
	if !known || strings.HasPrefix(key, round.OwnKeys) {
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
	if x.Message.Method == "tools/call" {
		return x.client.g.denial(x, out)
	}
	env := out.Envelope()
	return reply{Text: jsonrpc.AppendError(nil, x.Message.ID, jsonrpc.Denied, env.PublicReason, protocol.EnvelopeText(env))}
}

// forwardRound evaluates a request against a table of the policy, if there is one, and
// forwards it. The server may answer with requests for input.
func (x *request) forwardRound(ctx context.Context, c *conn, name string, table stopgate.ToolName) reply {
	r, wrong := x.openState(c, name)
	if wrong != "" {
		return serve.Refuse(x.Message.ID, jsonrpc.InvalidParams, wrong)
	}
	var out stopgate.Outcome
	if table != "" && x.client.g.hasTable(table) {
		var err error
		if out, err = x.client.g.decide(ctx, x.client.g.tableCall(x.client, c.server, table), x.argsOf(c)); err != nil && out.Proposal == "" {
			out = refusedOutcome(stopgate.CodePolicyError)
		}
		if !out.Allowed() {
			return x.refusal(out)
		}
	}
	answer, err := x.askAs(c, name, nil, nil, func(e *jsonrpc.Edits) {
		if v, ok := x.Message.Params.Get("name"); ok && x.Message.Method == "prompts/get" && !x.client.g.one() {
			e.Replace(v, jsonstream.AppendQuote(nil, name))
		}
		r.RemoveOwn(e, x.Message.Params)
	})
	if out.Proposal != "" {
		seen := stopgate.Result{
			Proposal: out.Proposal, Session: x.client.owner.Session, Principal: x.client.owner.Principal, Tool: table, Observed: true, Flagged: true,
			Failed: err != nil || answer.Message.Kind == jsonrpc.ErrorResponse,
		}
		if !seen.Failed {
			seen.Data = answer.Message.Result.Raw()
			seen.Text = []byte{} // addContent adds it
		}
		d, oops := x.client.g.gate.Observe(context.WithoutCancel(ctx), seen)
		if err == nil && out.Enforced && (oops != nil || !d.Delivered()) {
			return x.refusal(refusedOutcome(stopgate.CodeResultWithheld))
		}
	}
	if err == nil && answer.Message.Kind == jsonrpc.Response {
		x.client.addContent(ctx, answer.Message.Result)
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
	if x.Message.Method == "resources/read" {
		return append(jsonstream.AppendQuote([]byte(`{"uri":`), jsonrpc.TextOf(x.Message.Params, "uri")), '}')
	}
	_, inner, _ := x.client.route(jsonrpc.TextOf(x.Message.Params, "name"))
	out := jsonstream.AppendQuote([]byte(`{"name":`), string(canonical(c.server.ID, stopgate.ToolName(inner))))
	if arguments, ok := x.Message.Params.Get("arguments"); ok {
		out = append(append(out, `,"arguments":`...), arguments.Raw()...)
	}
	return append(out, '}')
}
