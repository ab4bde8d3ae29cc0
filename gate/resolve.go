package gate

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate"
)

// Resolve takes a closed call through the layers behind the rules: tool policies,
// session policies, judge and approver, the final check, the record. It blocks
// until there is an outcome; the end of ctx denies. Outcome.Args is what must run,
// byte for byte.
//
// In deny mode throw a denied call comes with a *Denied beside its outcome. Any
// other error is misuse: ErrOpen before Close, ErrResolved the second time.
func (p *pending) Resolve(ctx context.Context) (out stopgate.Outcome, err error) {
	err = p.resolveTo(ctx, &out)
	return out, err
}

// resolveTo is Resolve with a place for the outcome, which is large.
func (p *pending) resolveTo(ctx context.Context, out *stopgate.Outcome) error {
	c, last := commitment{pending: p}, p
	switch inner, err := c.begin(ctx); {
	case err != nil:
		*out = stopgate.Outcome{Proposal: p.id}
		return err
	case inner == nil:
		c.carryOut(ctx)
	default:
		last = p.settle(ctx, inner)
	}
	last.handOut(out)
	return p.g.denial(p.under, p.kind, out)
}

// begin decides a call of which nobody else is asked anything. For any other it returns
// the context of what is asked.
func (c *commitment) begin(ctx context.Context) (inner context.Context, err error) {
	p := c.pending
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stage < closed:
		return nil, ErrOpen
	case p.stage > closed:
		return nil, ErrResolved
	case p.plain():
		c.decideLocked(nil)
		return nil, nil
	}
	return p.resolve(ctx), nil
}

// handOut gives the outcome away.
func (p *pending) handOut(to *stopgate.Outcome) {
	*to = p.out
	p.out.Args = nil
}

// plain reports that the rules let the call run and no layer behind them has anything
// to say: nothing is waited for; p.mu is held.
func (p *pending) plain() bool {
	return p.rulesOnly() && !p.over && p.final != nil && p.prompt == nil && p.hearing == nil && p.granted == nil && len(p.senders) == 0 &&
		p.under == p.g.current.Load() && p.said.Mode.Permissive() && p.latest().Mode.Permissive()
}

// rulesOnly reports that nothing but rules and session policies, and people whom they
// want to see the call, has a say in it. What is added to the pipeline is added here.
func (p *pending) rulesOnly() bool {
	return p.kind == ToolCall && !p.under.observe && p.g.judge == nil && len(p.g.policies) == 0 &&
		len(p.under.reviewers) == 0 && len(p.under.handoffs) == 0
}

// Cancel gives the call up: whatever ran for it is withdrawn and the proposal is
// recorded, as cancelled if its verdict was not terminal yet. After Resolve it
// does nothing, so that it can be deferred; a Resolve that waits elsewhere returns
// the denial.
func (p *pending) Cancel(ctx context.Context) {
	p.mu.Lock()
	if p.stage < committed {
		p.push(p.refusal(stopgate.LayerFailure, stopgate.CodeCancelled))
	}
	if p.stage >= resolving {
		p.mu.Unlock()
		return
	}
	inner := p.resolve(ctx)
	p.mu.Unlock()
	p.settle(ctx, inner)
}

// dropped is Cancel for a call that nobody holds any more. A Resolve that is
// under way needs no holder.
func (p *pending) dropped() {
	p.mu.Lock()
	begun := p.stage >= resolving
	p.mu.Unlock()
	if !begun {
		p.Cancel(context.Background())
	}
}

// resolve begins the last part of the way; p.mu is held.
func (p *pending) resolve(ctx context.Context) context.Context {
	p.stage, p.waited, p.now = resolving, true, 0
	ctx, p.abort = context.WithCancelCause(ctx)
	return ctx
}

// settle brings the call to its outcome, and returns the proposal whose outcome that is.
// What is asked about the call ends with inner.
func (p *pending) settle(ctx, inner context.Context) *pending {
	approval, edited := p.deliberate(inner)
	p.abort(nil)
	p.join()
	return p.commitEdited(ctx, approval, edited)
}

// commitEdited is commit of the proposal, and of the one that took its place if there
// is one. It returns the one whose outcome is that of the call.
func (p *pending) commitEdited(ctx context.Context, approval *stopgate.Approval, edited *pending) *pending {
	if edited == nil {
		p.commit(ctx, approval, false)
		return p
	}
	p.commit(ctx, approval, true)
	if v := &p.out.Verdict; v.Terminal() {
		edited.deny(v.Layer, v.Code)
	}
	edited.commit(ctx, approval, false)
	return edited
}

// join waits for the end of the prompt and of the judges.
func (p *pending) join() {
	p.mu.Lock()
	q, h := p.prompt, p.hearing
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

// deliberate asks every layer behind the rules, in the order of the pipeline, until
// the verdict is terminal. It returns the approval that satisfies an ask, and the
// proposal that took this one's place if somebody edited it.
func (p *pending) deliberate(ctx context.Context) (approval *stopgate.Approval, edited *pending) {
	if !p.consider(ctx) {
		return nil, nil
	}
	return p.hearAll(ctx)
}

// consider is the part of it in which no person and no model is asked. It reports
// whether there is anything left to decide.
func (p *pending) consider(ctx context.Context) bool {
	prop := p.proposal()
	if prop == nil {
		return false
	}
	p.crossover(ctx, prop)
	if p.kind == ToolCall {
		p.askPolicies(ctx, prop)
	}
	p.askSenders()
	if over, v := p.sofar(); !over && (len(p.panel()) > 0 || p.under.observe || !v.Mode.Permissive()) {
		p.askSessions(ctx)
	}
	return true
}

// hearAll is the part in which they are.
func (p *pending) hearAll(ctx context.Context) (approval *stopgate.Approval, edited *pending) {
	if p.under.observe {
		p.hear(ctx)
		return nil, nil
	}
	if approval, edited = p.review(ctx); edited != nil {
		return approval, edited
	}
	p.askCurrentPolicy()
	p.askCurrentJudges(ctx)
	return approval, nil
}

// proposal is what the layers behind the rules see, nil if there is nothing left
// to decide. A call that reached this point without a verdict or without complete
// arguments is a fault of the evaluator.
func (p *pending) proposal() *Proposal {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return nil
	}
	return p.propose()
}

// propose is proposal with p.mu held.
func (p *pending) propose() *Proposal {
	if p.final == nil || !p.latest().Decided {
		p.push(p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError))
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

// askCurrentPolicy judges the call once more if another policy came into force
// while it was open: the strictest wins, and an ask of the new policy has been put
// to nobody (S16).
func (p *pending) askCurrentPolicy() {
	now := p.g.current.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || now.hash == p.under.hash || now.observe {
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
		p.push(v)
	case !v.Decided, !v.Mode.Permissive(), !bytes.Equal(e.Args(), p.final):
		p.push(p.refusal(stopgate.LayerApproval, stopgate.CodeApprovalStale))
	default:
		p.judgedBy = ""
	}
}

func (p *pending) isOver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// sofar is how the call stands now: an answer may be changing it.
func (p *pending) sofar() (over bool, v stopgate.Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over, p.verdict()
}

// deny ends the deliberation.
func (p *pending) deny(layer stopgate.Layer, code stopgate.Code) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.push(p.refusal(layer, code))
}
