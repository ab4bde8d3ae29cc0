package gate

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// The functions in this file are called with p.mu held, or before the call is shared.

// begin binds the policy and starts the evaluation. A policy that panics denies.
func (p *pending) begin() {
	defer p.recoverPolicy()
	p.bound = p.bind(p.under)
	p.eval = p.rules.Evaluate()
	p.evaluate(func() {})
}

// bind returns the rules of a policy for the call.
func (p *pending) bind(c *compiled) bound {
	if p.kind == Handoff {
		return bound{rules: &handoffRules{g: p.g, result: c.handoff(p.call.Agent, p.to)}}
	}
	return c.binding(&p.call, p.data)
}

// recoverPolicy turns a panic of the evaluator into a denial (FM15). The
// evaluation is not touched again.
func (p *pending) recoverPolicy() {
	if recover() == nil {
		return
	}
	p.cause = "panic " + stackHash()
	p.trace = p.published()
	p.eval = nil
	p.addVerdict(p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError))
}

// evaluate runs one step of the evaluator.
func (p *pending) evaluate(step func()) {
	defer p.recoverPolicy()
	step()
	if p.current = p.eval.Latest(); p.current.Terminal() {
		p.cause = p.eval.Cause()
		p.finish()
	}
	p.show()
}

func (p *pending) verdict() stopgate.Verdict { return *p.latest() }

// latest returns the current verdict, which must not be changed.
func (p *pending) latest() *stopgate.Verdict {
	switch {
	case len(p.layerVerdicts) > 0:
		return &p.layerVerdicts[len(p.layerVerdicts)-1]
	case p.eval != nil:
		return p.current
	case len(p.trace) > 0:
		return &p.trace[len(p.trace)-1]
	}
	return &undecided
}

// undecided is the verdict before any evaluation.
var undecided stopgate.Verdict

func (p *pending) transitions() []stopgate.Verdict {
	return append(p.published(), p.layerVerdicts...)
}

// published returns a copy of the verdicts of the evaluation; only the current one if the
// evaluation panics.
func (p *pending) published() (trace []stopgate.Verdict) {
	if p.eval == nil {
		return slices.Clone(p.trace)
	}
	defer func() {
		if recover() != nil {
			trace = []stopgate.Verdict{*p.current}
		}
	}()
	return slices.Clone(p.eval.Trace())
}

// addVerdict adds a verdict of a layer around the rules. It can only tighten: nothing
// follows a terminal verdict, and a mode that is not stricter changes nothing
// (K7, I3, I15).
func (p *pending) addVerdict(v stopgate.Verdict) {
	before := p.latest()
	if p.terminal || before.Decided && stopgate.Strictest(before.Mode, v.Mode) == before.Mode {
		return
	}
	p.layerVerdicts = append(p.layerVerdicts, v)
	if v.Terminal() {
		p.finish()
	}
}

// finish marks the verdict as terminal and cancels open questions.
func (p *pending) finish() {
	p.terminal = true
	if p.shared() {
		p.turn.leave(p.id)
	}
	if p.done != nil {
		close(p.done)
	}
	why := withdrawn{p.latest().Code}
	if p.prompt != nil {
		p.prompt.cancel(why)
	}
	if p.judgeRun != nil {
		p.judgeRun.cancel(why)
	}
	if p.abort != nil {
		p.abort(why)
	}
}

// refusal returns a denial by a layer other than the rules. It keeps the rule of the verdict:
// the rule that asked is the rule whose question was declined.
func (p *pending) refusal(layer stopgate.Layer, code stopgate.Code) stopgate.Verdict {
	v := p.verdict()
	if code == stopgate.CodeNoApprover && v.Code == stopgate.CodePathNotKnown {
		v.Mode, v.DecidedAt = stopgate.Deny, p.received
		return v // its text tells how to write the call so that no approval is needed
	}
	public := code.Public()
	if code == stopgate.CodeNoApprover {
		public = strings.TrimSpace(public + " " + p.eval.Instead())
	}
	return stopgate.Verdict{
		Decided: true, Mode: stopgate.Deny, Layer: layer, Code: code,
		Rule: v.Rule, Candidates: v.Candidates, Pointer: v.Pointer, Segment: v.Segment,
		DecidedAt: p.received, Public: public, Floors: v.Floors,
	}
}

// acceptArguments keeps the complete arguments of a call that may run.
func (p *pending) acceptArguments() {
	root := p.eval.Document().Root()
	if v := p.eval.Latest(); v.Terminal() || !root.IsValid() {
		return
	}
	p.final, p.hash = p.eval.Args(), hexOf(jsonstream.HashCanonical(root))
	p.cause = p.eval.Cause()
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
