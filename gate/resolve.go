package gate

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate"
)

// Resolve takes a closed call through the layers after the rules: tool policies, session
// policies, judge and approver, the final check, the record. It blocks until there is an
// outcome; the end of ctx denies. Outcome.Args is what must run, byte for byte.
//
// In deny mode throw a denied call returns a *Denied with its outcome. Any other error is
// misuse: ErrOpen before Close, ErrResolved the second time.
func (p *pending) Resolve(ctx context.Context) (stopgate.Outcome, error) {
	p.mu.Lock()
	stage := p.stage
	r := resolution{call: p}
	if stage == closed {
		r.ctx = p.beginResolve(ctx)
	}
	p.mu.Unlock()
	switch {
	case stage < closed:
		return stopgate.Outcome{Proposal: p.id}, ErrOpen
	case stage > closed:
		return stopgate.Outcome{Proposal: p.id}, ErrResolved
	}
	all := []resolution{r}
	p.g.resolve(ctx, all)
	out := all[0].call.takeOutcome()
	return out, p.g.denial(p.under, p.kind, &out)
}

// ResolveAll is [Pending.Resolve] for the closed calls of one turn, in the order in which
// the model made them. People and judges are asked about all of them at the same time.
// Reservations and rows are made in the order of the list, each on the facts that the
// calls before it left; those of neighbours that may leave are written together. A call
// that fails does not affect the others.
//
// The outcome of a call has its index. That of a call that is not closed, or is resolved
// already, denies and has no verdict. A denial is no error here, also in deny mode throw.
func (g *Gate) ResolveAll(ctx context.Context, calls []*Pending) []stopgate.Outcome {
	outs := make([]stopgate.Outcome, len(calls))
	var all []resolution
	var at []int
	for i, handle := range calls {
		p := handle.pending
		outs[i].Proposal = p.id
		p.mu.Lock()
		if p.stage == closed {
			all, at = append(all, resolution{call: p, ctx: p.beginResolve(ctx)}), append(at, i)
		}
		p.mu.Unlock()
	}
	g.resolve(ctx, all)
	for i := range all {
		outs[at[i]] = all[i].call.takeOutcome()
	}
	return outs
}

// resolution is one call while it is resolved.
type resolution struct {
	call *pending        // once committed, the proposal whose outcome is that of the call
	ctx  context.Context // of everything that is asked about the call
	open bool            // people and judges are still to be asked

	approval *stopgate.Approval
	edited   *pending // the proposal that a person edited the call into
}

// resolve is the pipeline from the complete arguments to the outcome, for one call or the
// calls of a turn. No later layer loosens what an earlier one decided.
func (g *Gate) resolve(ctx context.Context, all []resolution) {
	for i := range all {
		r := &all[i]
		r.open = r.call.askPolicyLayers(r.ctx)
	}
	for i := range all { // questions about all calls are open at the same time
		if r := &all[i]; r.open {
			r.call.beginQuestions(r.ctx)
		}
	}
	for i := range all {
		r := &all[i]
		if r.open {
			r.approval, r.edited = r.call.askPeopleAndJudges(r.ctx)
		}
		r.call.endQuestions()
	}
	g.commitAll(ctx, all)
}

// takeOutcome returns the outcome and gives up its arguments.
func (p *pending) takeOutcome() stopgate.Outcome {
	out := p.out
	p.out.Args = nil
	return out
}

// Cancel ends the call: its question and judges are cancelled, and the proposal is
// recorded, as cancelled if its verdict was not terminal yet. After Resolve it
// does nothing, so that it can be deferred; a Resolve that waits elsewhere returns
// the denial.
func (p *pending) Cancel(ctx context.Context) {
	p.mu.Lock()
	if p.stage < committed {
		p.addVerdict(p.refusal(stopgate.LayerFailure, stopgate.CodeCancelled))
	}
	if p.stage >= resolving {
		p.mu.Unlock()
		return
	}
	all := []resolution{{call: p, ctx: p.beginResolve(ctx)}}
	p.mu.Unlock()
	p.g.resolve(ctx, all)
}

// dropped cancels a call whose Pending was garbage collected, unless it is being resolved.
func (p *pending) dropped() {
	p.mu.Lock()
	begun := p.stage >= resolving
	p.mu.Unlock()
	if !begun {
		p.Cancel(context.Background())
	}
}

// beginResolve begins the last stage of the call and returns the context of everything
// that is asked about it: it ends when ctx does, and when the call is decided. p.mu is held.
func (p *pending) beginResolve(ctx context.Context) context.Context {
	p.stage = resolving
	ctx, p.abort = context.WithCancelCause(ctx)
	return ctx
}

// askPolicyLayers asks the layers in which neither a person nor a model is asked. It
// reports whether the call is still to be decided.
func (p *pending) askPolicyLayers(ctx context.Context) bool {
	prop := p.proposal()
	if prop == nil {
		return false
	}
	p.askHandoffPolicies(ctx, prop)
	if p.kind == ToolCall {
		p.askPolicies(ctx, prop)
	}
	p.askSenders()
	if over, v := p.soFar(); !over && (len(p.judgesOfCall()) > 0 || p.under.observe || !v.Mode.Permissive()) {
		p.askSessions(ctx)
	}
	return true
}

// beginQuestions begins to ask the judges and people whom the call needs, and does not
// wait for them.
func (p *pending) beginQuestions(ctx context.Context) {
	if p.under.observe {
		return
	}
	p.promptIfAsked(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.startJudges(ctx)
}

// askPeopleAndJudges waits for the layers in which a person or a model is asked, and then
// evaluates the policy in force now. It returns the approval that satisfies an ask, and
// the proposal that a person edited the call into.
func (p *pending) askPeopleAndJudges(ctx context.Context) (approval *stopgate.Approval, edited *pending) {
	if p.under.observe {
		p.waitForJudges(ctx)
		return nil, nil
	}
	if approval, edited = p.review(ctx); edited != nil {
		return approval, edited
	}
	p.askCurrentPolicy()
	p.askCurrentJudges(ctx)
	return approval, nil
}

// endQuestions withdraws the open question and waits for the approver and the judges.
func (p *pending) endQuestions() {
	p.abort(nil)
	p.mu.Lock()
	q, h := p.prompt, p.judgeRun
	p.mu.Unlock()
	if q != nil {
		q.cancel(withdrawn{stopgate.CodeCancelled})
		<-q.ended
	}
	if h != nil {
		h.cancel(withdrawn{stopgate.CodeCancelled})
		<-h.ended
	}
}

// proposal returns the call for the layers after the rules, nil if its verdict is terminal. A call that reached this point without a verdict or without complete
// arguments is a fault of the evaluator.
func (p *pending) proposal() *Proposal {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		return nil
	}
	return p.propose()
}

// propose is proposal with p.mu held.
func (p *pending) propose() *Proposal {
	if p.final == nil || !p.latest().Decided {
		p.addVerdict(p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError))
		return nil
	}
	prop := &Proposal{
		ID: p.id, Parent: p.parent, Call: p.call, ArgsHash: p.hash, Verdict: p.verdict(),
		Policy: p.under.hash, Definition: p.definition, To: p.to,
	}
	if len(p.g.policies) > 0 || len(p.g.handoffs) > 0 || p.g.judge != nil || len(p.under.reviewers) > 0 {
		prop.Args = string(p.final)
	}
	return prop
}

// askCurrentPolicy evaluates the call again if another policy came into force while it was
// open: the strictest verdict wins, and an ask of the new policy is approval_stale, because no
// approver has seen it (S16).
func (p *pending) askCurrentPolicy() {
	now := p.g.current.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal || now.hash == p.under.hash || now.observe {
		return
	}
	defer p.recoverPolicy()
	p.judgedBy = now.hash
	b := p.bind(now)
	e := b.rules.Evaluate()
	e.Feed(p.final)
	v := e.Close(stopgate.Ended)
	if otherwise, unknown := b.rules.Unknown(); unknown && !p.permitted && v.Mode.Permissive() {
		v = p.refusal(stopgate.LayerIntegrity, stopgate.CodePolicyNotConfigured)
		v.Mode = otherwise
	}
	switch {
	case v.Terminal():
		p.addVerdict(v)
	case !v.Decided, !v.Mode.Permissive(), !bytes.Equal(e.Args(), p.final):
		p.addVerdict(p.refusal(stopgate.LayerApproval, stopgate.CodeApprovalStale))
	default:
		p.judgedBy = ""
	}
}

func (p *pending) isTerminal() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.terminal
}

// soFar returns the verdict so far and whether it is terminal.
func (p *pending) soFar() (over bool, v stopgate.Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.terminal, p.verdict()
}

// deny adds a denial.
func (p *pending) deny(layer stopgate.Layer, code stopgate.Code) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addVerdict(p.refusal(layer, code))
}
