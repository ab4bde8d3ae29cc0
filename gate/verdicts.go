package gate

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/gate/port"
)

// verdicts are the verdicts of a call in order: those of the evaluation, and after them those
// of the layers around the rules. They are guarded by the mu of the call.
type verdicts struct {
	eval     Evaluation         // nil once settled, or after a panic
	current  *stopgate.Verdict  // its latest verdict
	layers   []stopgate.Verdict // of the layers around the rules
	trace    []stopgate.Verdict // of an evaluation that panicked; all, once settled
	terminal bool
	done     chan struct{} // made on demand, closed when the verdict is terminal
	cause    string        // a detail for the record
	judgedBy *compiled     // the policy that decided, if not the one it began with
}

// undecided is the verdict before any evaluation.
var undecided stopgate.Verdict

// latest returns the current verdict, which must not be changed.
func (v *verdicts) latest() *stopgate.Verdict {
	switch {
	case len(v.layers) > 0:
		return &v.layers[len(v.layers)-1]
	case v.eval != nil:
		return v.current
	case len(v.trace) > 0:
		return &v.trace[len(v.trace)-1]
	}
	return &undecided
}

// add adds a verdict of a layer around the rules and reports whether it did. It ignores
// verdicts after a terminal one, and modes that are not stricter (K7, I3, I15).
func (v *verdicts) add(next stopgate.Verdict) bool {
	before := v.latest()
	if v.terminal || before.Decided && stopgate.Strictest(before.Mode, next.Mode) == before.Mode {
		return false
	}
	v.layers = append(v.layers, next)
	return true
}

// end marks the verdict as terminal.
func (v *verdicts) end() {
	if v.terminal = true; v.done != nil {
		close(v.done)
	}
}

// whenTerminal returns the channel that is closed when the verdict is terminal.
func (v *verdicts) whenTerminal() <-chan struct{} {
	if v.done == nil {
		v.done = make(chan struct{})
		if v.terminal {
			close(v.done)
		}
	}
	return v.done
}

// all returns a copy of all verdicts.
func (v *verdicts) all() []stopgate.Verdict { return append(v.published(), v.layers...) }

// published returns a copy of the verdicts of the evaluation; only the current one if the
// evaluation panics.
func (v *verdicts) published() (trace []stopgate.Verdict) {
	if v.eval == nil {
		return slices.Clone(v.trace)
	}
	defer func() {
		if recover() != nil {
			trace = []stopgate.Verdict{*v.current}
		}
	}()
	return slices.Clone(v.eval.Trace())
}

// settle keeps the verdicts of a call with an outcome and gives up the evaluation. Its buffers
// serve another call if reuse is set.
func (v *verdicts) settle(reuse bool) {
	v.trace = v.all()
	if v.eval != nil && reuse {
		v.eval.Release()
	}
	v.eval, v.current, v.layers = nil, &undecided, nil
	if !v.terminal {
		v.end()
	}
}

// The methods of pending below are called with p.mu held, or before the call is shared.

// begin binds the policy and starts the evaluation. A policy that panics denies.
func (p *pending) begin() {
	defer p.recoverPolicy()
	p.bound = p.bind(p.under, p.sessions.texts)
	p.verdicts.eval = p.bound.rules.Evaluate(p.sessions.texts)
	p.evaluate(func() {})
}

// bind returns the rules of a policy for the call in a session with these texts.
func (p *pending) bind(c *compiled, texts flow.View) bound {
	if p.kind == Handoff {
		return bound{rules: &payloadRules{policies: p.g.decidesHandoffs(c), entry: c.handoff(p.call.Agent, p.handoff.to)}}
	}
	return c.binding(&p.call, p.sessions.data, texts)
}

// evaluate runs one step of the evaluator.
func (p *pending) evaluate(step func()) {
	defer p.recoverPolicy()
	step()
	v := &p.verdicts
	if v.current = v.eval.Latest(); v.current.Terminal() {
		v.cause = v.eval.Cause()
		p.finish()
	}
	p.approval.show()
}

// recoverPolicy turns a panic of the evaluator into a denial (FM15). The
// evaluation is not touched again.
func (p *pending) recoverPolicy() {
	if recover() == nil {
		return
	}
	v := &p.verdicts
	v.cause = "panic " + port.StackHash()
	v.trace = v.published()
	v.eval = nil
	p.addVerdict(p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError))
}

// addVerdict adds a verdict of a layer around the rules.
func (p *pending) addVerdict(v stopgate.Verdict) {
	if p.verdicts.add(v) && v.Terminal() {
		p.finish()
	}
}

// finish marks the verdict as terminal and cancels open questions.
func (p *pending) finish() {
	if p.shared() {
		p.turn.Leave(p.id)
	}
	p.verdicts.end()
	why := withdrawn{p.verdicts.latest().Code}
	if p.approval.prompt != nil {
		p.approval.prompt.cancel(why)
	}
	if p.judges.run != nil {
		p.judges.run.cancel(why)
	}
	if p.abort != nil {
		p.abort(why)
	}
}

// refusal returns a denial by a layer other than the rules. It keeps the rule of the verdict:
// the rule that asked is the rule whose question was declined.
func (p *pending) refusal(layer stopgate.Layer, code stopgate.Code) stopgate.Verdict {
	v := *p.verdicts.latest()
	if code == stopgate.CodeNoApprover && v.Code == stopgate.CodePathNotKnown {
		v.Mode, v.DecidedAt = stopgate.Deny, p.args.received
		return v // its text explains how to write the call so that no approval is needed
	}
	public := code.Public()
	switch {
	case code == stopgate.CodeNoApprover && v.Layer == stopgate.LayerSession:
		public += " " + v.Public
	case code == stopgate.CodeNoApprover:
		public = strings.TrimSpace(public + " " + p.verdicts.eval.Instead())
	case code == stopgate.CodeApprovalTimeout && v.Code == stopgate.CodePathNotKnown:
		public += " " + v.Public
	}
	return stopgate.Verdict{
		Decided: true, Mode: stopgate.Deny, Layer: layer, Code: code,
		Rule: v.Rule, Candidates: v.Candidates, Pointer: v.Pointer, Segment: v.Segment,
		DecidedAt: p.args.received, Public: public, Floors: v.Floors,
	}
}

// layerOf returns the layer of a code of a surface.
func layerOf(code stopgate.Code) stopgate.Layer {
	switch code {
	case stopgate.CodeNoApprover, stopgate.CodeApprovalPending, stopgate.CodeApprovalDeclined,
		stopgate.CodeApprovalTimeout, stopgate.CodeApprovalStale, stopgate.CodeClientGone:
		return stopgate.LayerApproval
	case stopgate.CodePolicyError, stopgate.CodePolicyTimeout, stopgate.CodeInvalidPolicyResult,
		stopgate.CodeStoreUnavailable, stopgate.CodeSessionDegraded, stopgate.CodeAuditUnavailable,
		stopgate.CodeToolUnreachable, stopgate.CodeToolDefinitionChanged, stopgate.CodeUpstreamError,
		stopgate.CodeUpstreamTimeout, stopgate.CodeOverloaded, stopgate.CodeCancelled:
		return stopgate.LayerFailure
	case stopgate.CodeServerToolNotAllowed, stopgate.CodeBackgroundNotSupported, stopgate.CodeDenialLimit,
		stopgate.CodePolicyNotConfigured, stopgate.CodeLockdown, stopgate.CodePolicyDropped:
		return stopgate.LayerGate
	}
	return stopgate.LayerIntegrity
}
