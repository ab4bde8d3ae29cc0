package mcpgate

import (
	"context"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/policy/eval"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// ask is what the gate is told about something else than a tool: its name is that of
// the policy's table, and no definition makes it known.
func (g *Gateway) ask(p *peer, s *Server, tool stopgate.ToolName) stopgate.Call {
	c := g.call(p.owner, s, tool, nil)
	c.Tool = tool
	return c
}

// decide takes a call through the gate.
func (g *Gateway) decide(ctx context.Context, call stopgate.Call, args []byte) (stopgate.Outcome, error) {
	pending, err := g.gate.Open(ctx, call)
	if err != nil {
		return stopgate.Outcome{}, err
	}
	defer pending.Cancel(ctx)
	pending.Feed(args)
	pending.Close(stopgate.Ended)
	return pending.Resolve(ctx)
}

// has reports whether the policy has a table of this very name.
func (g *Gateway) has(tool stopgate.ToolName) bool {
	_, ok := g.program().Tools()[tool]
	return ok
}

// mayAsk reports whether servers can ever ask for something.
func (g *Gateway) mayAsk(o session.Owner, s *Server, tool stopgate.ToolName) bool {
	c := g.call(o, s, tool, nil)
	c.Tool = tool
	return !g.gate.Enforced() || !g.never(c, "")
}

// verdicts remembers which tools are denied whatever their arguments are.
type verdicts struct {
	mu    sync.Mutex
	known map[verdictKey]bool
}

type verdictKey struct {
	policy, definition string
	tool               stopgate.ToolName
	server             stopgate.ServerID
	principal          stopgate.Principal
	pinned             bool
}

func newVerdicts() *verdicts { return &verdicts{known: map[verdictKey]bool{}} }

// maxVerdicts bounds what is remembered.
const maxVerdicts = 10_000

// never reports whether every call of a tool is refused before its first argument:
// such a tool is not shown (WIRE 8.4). It depends on the principal only; where rules
// look at the session, nothing is hidden.
func (g *Gateway) never(call stopgate.Call, definition string) bool {
	program := g.program()
	key := verdictKey{program.Hash(), definition, call.Tool, call.Server, call.Principal, call.Definition != nil && call.Definition.Pinned}
	g.lists.mu.Lock()
	defer g.lists.mu.Unlock()
	if hidden, ok := g.lists.known[key]; ok {
		return hidden
	}
	hidden := Hidden(program, call)
	if len(g.lists.known) >= maxVerdicts {
		clear(g.lists.known)
	}
	g.lists.known[key] = hidden
	return hidden
}

// Hidden reports whether a policy refuses every call of the tool of a call before its first
// argument: clients are not shown it, and a call of it is answered as one of a tool that is
// not there.
func Hidden(program *policy.Program, call stopgate.Call) bool {
	return !program.LooksAtSessions() && program.BindUnder(call, eval.Circumstances{}).Evaluate().Verdict().Terminal()
}

// denial is the result of a tool call that did not run, as the model reads it (WIRE
// 8.5).
func (g *Gateway) denial(x *exchange, out stopgate.Outcome) reply {
	env := out.Envelope()
	if x.p.stdio && (env.Code == stopgate.CodeNoApprover || env.Code == stopgate.CodeApprovalPending) {
		// The client is on this machine, and so is its user, whom the model can tell.
		env.PublicReason += " The user answers in a terminal: stopgate approvals watch"
	}
	if g.set.DenyAsError {
		return reply{text: jsonrpc.AppendError(nil, x.id, jsonrpc.Denied, env.PublicReason, envelopeText(env))}
	}
	return reply{text: result(x, env, out.Status != stopgate.Skipped)}
}

// result is a tool's result that consists of an envelope.
func result(x *exchange, env stopgate.Envelope, isError bool) []byte {
	var text, o object
	text.text("type", "text").text("text", string(envelopeText(env)))
	if x.modern {
		o.text("resultType", "complete")
	}
	o.raw("content", append(append([]byte("["), text.end()...), ']')).bool("isError", isError)
	return appendResult(x.id, o.end())
}

// refused is the outcome of a call that the surface refuses without the gate: for
// what happens after the gate allowed it.
func refused(code stopgate.Code) stopgate.Outcome {
	return stopgate.Outcome{Verdict: stopgate.Verdict{
		Decided: true, Layer: stopgate.LayerFailure, Code: code, Public: code.Public(),
	}, Enforced: true}
}
