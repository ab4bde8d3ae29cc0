package mcpgate

import (
	"context"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/internal/mcp/serve"
	"github.com/stopgate/stopgate/session"
)

// tableCall returns the gate's call for an operation other than a tool call. Its name is
// the name of the policy table, and it has no definition.
func (g *Gateway) tableCall(p *client, s *Server, tool stopgate.ToolName) stopgate.Call {
	c := g.call(p.owner, s, tool, nil)
	c.Tool = tool
	return c
}

// decide evaluates a call with complete arguments.
func (g *Gateway) decide(ctx context.Context, call stopgate.Call, args []byte) (stopgate.Outcome, error) {
	call.Groups = serve.Groups(ctx)
	pending, err := g.gate.Open(ctx, call)
	if err != nil {
		return stopgate.Outcome{}, err
	}
	defer pending.Cancel(ctx)
	pending.Feed(args)
	pending.Close(stopgate.Ended)
	return pending.Resolve(ctx)
}

// hasTable reports whether the policy has a table with exactly this name.
func (g *Gateway) hasTable(tool stopgate.ToolName) bool {
	_, ok := g.program().Tools()[tool]
	return ok
}

// mayRequest reports whether the policy can allow a server's request of this kind.
func (g *Gateway) mayRequest(o session.Owner, s *Server, tool stopgate.ToolName) bool {
	c := g.call(o, s, tool, nil)
	c.Tool = tool
	return !g.gate.Enforced() || !g.isHidden(c, "")
}

// hiddenTools caches which tools are denied for all arguments.
type hiddenTools struct {
	mu     sync.Mutex
	byCall map[hiddenKey]bool
}

type hiddenKey struct {
	policy, definition string
	tool               stopgate.ToolName
	server             stopgate.ServerID
	principal          stopgate.Principal
	pinned             bool
}

func newHiddenTools() *hiddenTools { return &hiddenTools{byCall: map[hiddenKey]bool{}} }

// maxHidden is the maximum number of cached entries.
const maxHidden = 10_000

// isHidden reports whether every call of a tool is refused before its first argument. Such
// a tool is not listed. The result depends on the principal only: if rules depend on the
// session, no tool is hidden.
func (g *Gateway) isHidden(call stopgate.Call, definition string) bool {
	program := g.program()
	key := hiddenKey{program.Hash(), definition, call.Tool, call.Server, call.Principal, call.Definition != nil && call.Definition.Pinned}
	g.hidden.mu.Lock()
	defer g.hidden.mu.Unlock()
	if hidden, ok := g.hidden.byCall[key]; ok {
		return hidden
	}
	hidden := Hidden(program, call)
	if len(g.hidden.byCall) >= maxHidden {
		clear(g.hidden.byCall)
	}
	g.hidden.byCall[key] = hidden
	return hidden
}

// Hidden reports whether the policy refuses every call of the tool before its first
// argument. Such a tool is not listed, and a call of it gets the same response as a call of
// an unknown tool.
func Hidden(program gate.Policy, call stopgate.Call) bool {
	return !program.LooksAtSessions() && !program.LooksAtTexts() && !program.LooksAtGroups() && program.RulesFor(call, gate.Circumstances{}).Evaluate(nil).Latest().Terminal()
}

// denial returns the result of a tool call that did not run, for the model.
func (g *Gateway) denial(x *request, out stopgate.Outcome) reply {
	env := out.Envelope()
	if x.client.via.Stdio && (env.Code == stopgate.CodeNoApprover || env.Code == stopgate.CodeApprovalPending) {
		// The client runs on this machine, and so does its user: the model can tell the
		// user what to do.
		env.PublicReason += " The user answers in a terminal: stopgate approvals watch"
	}
	if g.set.DenyAsError {
		return reply{Text: jsonrpc.AppendError(nil, x.Message.ID, jsonrpc.Denied, env.PublicReason, protocol.EnvelopeText(env))}
	}
	return x.result(protocol.ToolResult(env, out.Status != stopgate.Skipped, x.Modern))
}

// refusedOutcome is the outcome of a call that the gateway refuses after the gate allowed
// it, or without evaluating it.
func refusedOutcome(code stopgate.Code) stopgate.Outcome {
	return stopgate.Outcome{Verdict: stopgate.Verdict{
		Decided: true, Layer: stopgate.LayerFailure, Code: code, Public: code.Public(),
	}, Enforced: true}
}
