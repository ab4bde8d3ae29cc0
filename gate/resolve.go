package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/policy"
)

// Resolve takes a closed call through the layers behind the rules: tool policies,
// session policies, judge and approver, the final check, the record. It blocks
// until there is an outcome; the end of ctx denies. Outcome.Args is what must run,
// byte for byte.
//
// In deny mode throw a denied call comes with a *Denied beside its outcome. Any
// other error is misuse: ErrOpen before Close, ErrResolved the second time.
func (p *pending) Resolve(ctx context.Context) (stopgate.Outcome, error) {
	p.mu.Lock()
	switch {
	case p.stage < closed:
		p.mu.Unlock()
		return stopgate.Outcome{Proposal: p.id}, ErrOpen
	case p.stage > closed:
		p.mu.Unlock()
		return stopgate.Outcome{Proposal: p.id}, ErrResolved
	}
	ctx = p.resolve(ctx)
	p.mu.Unlock()
	out := p.settle(ctx)
	return out, p.g.denial(p.under, out)
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
	ctx = p.resolve(ctx)
	p.mu.Unlock()
	p.settle(ctx)
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
	p.stage = resolving
	ctx, p.abort = context.WithCancelCause(ctx)
	return ctx
}

// settle brings the call to its outcome.
func (p *pending) settle(ctx context.Context) stopgate.Outcome {
	approval, edited := p.deliberate(ctx)
	p.abort(nil)
	p.join()
	if edited == nil {
		return p.commit(ctx, approval, false)
	}
	if v := p.commit(ctx, approval, true).Verdict; v.Terminal() {
		edited.deny(v.Layer, v.Code)
	}
	out := edited.commit(ctx, approval, false)
	p.mu.Lock()
	p.outcome = out
	p.mu.Unlock()
	return out
}

// join waits for the end of the prompt.
func (p *pending) join() {
	p.mu.Lock()
	q := p.prompt
	p.mu.Unlock()
	if q != nil {
		q.cancel(withdrawn{stopgate.CodeCancelled})
		<-q.ended
	}
}

// deliberate asks every layer behind the rules, in the order of the pipeline, until
// the verdict is terminal. It returns the approval that satisfies an ask, and the
// proposal that took this one's place if somebody edited it.
func (p *pending) deliberate(ctx context.Context) (approval *stopgate.Approval, edited *pending) {
	prop := p.proposal()
	if prop == nil {
		return nil, nil
	}
	p.askPolicies(ctx, prop)
	if p.g.sessions != nil && !p.isOver() {
		p.askSessions(ctx, *prop)
	}
	if !p.under.observe {
		if approval, edited = p.review(ctx, prop); edited != nil {
			return approval, edited
		}
		p.askCurrentPolicy()
	}
	if p.g.sessions != nil && !p.isOver() {
		p.reserve(ctx, *prop)
	}
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
	if p.final == nil || !p.verdict().Decided {
		p.push(p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError))
		return nil
	}
	prop := &Proposal{
		ID: p.id, Parent: p.parent, Call: p.call, ArgsHash: p.hash, Verdict: p.verdict(),
		Policy: p.under.hash, Definition: p.rules.Definition(),
	}
	if len(p.g.policies) > 0 || p.g.sessions != nil || p.g.judge != nil {
		prop.Args = string(p.final)
	}
	return prop
}

// askCurrentPolicy judges the call once more if another policy came into force
// while it was open: the strictest wins, and an ask of the new policy has been put
// to nobody (DECISIONS S16).
func (p *pending) askCurrentPolicy() {
	now := p.g.current.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || now.hash == p.under.hash || now.observe {
		return
	}
	defer p.recoverPolicy()
	p.judgedBy = now.hash
	e := now.binding(&p.call).evaluate()
	e.Feed(p.final)
	switch v := e.Close(stopgate.Ended); {
	case v.Terminal():
		p.push(v)
	case !v.Decided, !v.Mode.Permissive(), !bytes.Equal(e.Args(), p.final):
		p.push(p.refusal(stopgate.LayerApproval, stopgate.CodeApprovalStale))
	default:
		p.judgedBy = ""
	}
}

// commit writes the row and makes the outcome. From here on nothing changes the
// verdict but a row that cannot be written: an allow without its row is a denial
// (INVARIANTS I22, THREATS H19).
func (p *pending) commit(ctx context.Context, approval *stopgate.Approval, edited bool) stopgate.Outcome {
	p.mu.Lock()
	p.stage = committed
	v := p.verdict()
	out := stopgate.Outcome{Proposal: p.id, Enforced: !p.under.observe, Status: stopgate.Denied}
	switch {
	case p.over:
		approval = nil
	case p.under.observe:
	case edited:
	case v.Mode.Permissive(), approval != nil:
		out.Status = stopgate.Allowed
	default: // an ask that nobody answered: no way leads here, and none may
		p.push(p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError))
	}
	if v = p.verdict(); v.Mode == stopgate.Skip && p.over {
		out.Status = stopgate.Skipped
	}
	if out.Status == stopgate.Allowed {
		out.Args = bytes.Clone(p.final)
		out.Approval = approval
	}
	status := statusOf(out, v, edited)
	row := p.row(v, status, approval)
	if out.Status == stopgate.Allowed {
		sum := sha256.Sum256(out.Args)
		row.ReleasedHash = hex.EncodeToString(sum[:])
	}
	p.mu.Unlock()

	err := p.g.ledger.write(ctx, row)
	if err != nil && (out.Status == stopgate.Allowed || edited) && out.Enforced {
		p.mu.Lock()
		p.push(p.refusal(stopgate.LayerFailure, stopgate.CodeAuditUnavailable))
		p.mu.Unlock()
		out.Status, out.Args, out.Approval = stopgate.Denied, nil, nil
	}
	if out.Status != stopgate.Allowed && out.Enforced {
		p.giveBack(ctx)
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	out.Verdict = p.verdict()
	if !out.Enforced && status != stopgate.StatusCancelled {
		out.Status, out.Args = stopgate.Allowed, p.raw
		if p.received > maxRaw {
			out.Args = nil
		}
	}
	p.end(out, row)
	return out
}

// statusOf names the end of a proposal for its row.
func statusOf(out stopgate.Outcome, v stopgate.Verdict, edited bool) stopgate.RecordStatus {
	switch {
	case v.Code == stopgate.CodeCancelled:
		return stopgate.StatusCancelled
	case v.Code == stopgate.CodeStreamTruncated, v.Code == stopgate.CodeTruncatedArguments:
		return stopgate.StatusTruncated
	case !out.Enforced:
		return stopgate.StatusObserved
	case edited && !v.Terminal():
		return stopgate.StatusEdited
	case out.Status == stopgate.Allowed:
		return stopgate.StatusAllowed
	case out.Status == stopgate.Skipped:
		return stopgate.StatusSkipped
	}
	return stopgate.StatusDenied
}

// maxPooled is how many argument bytes an evaluation may have seen to be used
// again: a large one does not keep its buffers.
const maxPooled = 1 << 20

// end keeps the outcome and lets go of the evaluation; p.mu is held.
func (p *pending) end(out stopgate.Outcome, row *stopgate.Record) {
	if out.Allowed() {
		p.g.released.put(p.id, p.release(row))
	}
	p.trace = p.transitions()
	if e, ok := p.eval.(*policy.Evaluation); ok && p.received <= maxPooled {
		p.g.evals.Put(e)
	}
	p.eval, p.own, p.raw, p.final = nil, nil, nil, nil
	p.outcome, p.stage = out, settled
	if !p.over {
		p.over = true
		if p.done != nil {
			close(p.done)
		}
	}
}

func (p *pending) isOver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// deny ends the deliberation.
func (p *pending) deny(layer stopgate.Layer, code stopgate.Code) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.push(p.refusal(layer, code))
}
