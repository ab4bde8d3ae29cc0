package gate

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate"
)

// review asks the judges and, if the verdict asks, the approver, at the same time; both must
// pass (S29). It returns the approval
// that satisfies the verdict, nil if none is needed or the call is denied.
func (p *pending) review(ctx context.Context) (*stopgate.Approval, *pending) {
	p.promptIfAsked(ctx)
	p.waitForJudges(ctx)
	p.promptIfAsked(ctx)
	if p.granted != nil {
		return p.granted, nil
	}
	for firstAnswer := true; ; firstAnswer = false {
		a, verdict := p.answer(ctx)
		switch {
		case a == nil:
			return nil, nil
		case verdict == retry && firstAnswer:
			p.reprompt(ctx)
			continue
		case verdict != satisfied:
			p.deny(stopgate.LayerApproval, stopgate.CodeApprovalStale)
			return nil, nil
		}
		approval := &stopgate.Approval{ID: a.ID, By: a.By, Edited: a.Kind == Edited, Referred: a.Referred}
		if a.Kind != Edited {
			return approval, nil
		}
		return approval, p.edit(ctx, a.Args, approval)
	}
}

// promptIfAsked opens a prompt if the verdict asks and none is open. The person who edited the
// call is not asked again.
func (p *pending) promptIfAsked(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.terminal && p.prompt == nil && p.granted == nil && !p.verdict().Mode.Permissive() {
		p.ask(ctx)
	}
}

// reprompt asks again about the complete call.
func (p *pending) reprompt(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.terminal {
		p.ask(ctx)
	}
}

// standing is the result of the final check of an answer.
type answerState uint8

const (
	stale answerState = iota
	retry
	satisfied
)

// answer waits for the prompt and checks its answer against the current call (H1, H2). It is nil if there is no prompt or the call is denied.
func (p *pending) answer(ctx context.Context) (*Answer, answerState) {
	p.mu.Lock()
	q := p.prompt
	p.mu.Unlock()
	if q == nil {
		return nil, stale
	}
	select {
	case <-q.ended:
	case <-ctx.Done():
		// With ErrHold the prompt sets the code, because the approver may keep the question.
		if cause := context.Cause(ctx); !errors.Is(cause, ErrHold) {
			p.deny(stopgate.LayerApproval, endCode(cause))
		}
		<-q.ended
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		return nil, stale
	}
	v, now := p.verdict(), p.g.now()
	switch {
	case v.Mode == stopgate.Edit && !q.able.CanEdit:
		p.addVerdict(p.refusal(stopgate.LayerApproval, stopgate.CodeNoApprover))
		return nil, stale
	case q.expired(now, p.g.limits.Approval):
		p.addVerdict(p.refusal(stopgate.LayerApproval, stopgate.CodeApprovalTimeout))
		return nil, stale
	}
	a := q.answer
	if s := p.checkAnswer(q, v, a); s != satisfied {
		return &a, s
	}
	if a.ID == "" {
		a.ID = string(p.id)
	} else if !p.g.used.use(a.ID, now, q.asked.Add(p.g.limits.Approval)) {
		return &a, stale
	} else {
		p.usedApproval = true
	}
	return &a, satisfied
}

// checkAnswer compares the answered call with the call that would run; p.mu is held.
func (p *pending) checkAnswer(q *prompt, v stopgate.Verdict, a Answer) answerState {
	if a.Binding == p.binding() {
		return satisfied
	}
	if !a.Unseen || !q.early || a.Kind != Approved || a.Binding != (Binding{}) {
		return stale
	}
	// The approval includes the arguments that followed, unless they gave a new reason to
	// ask.
	if v.Mode != q.verdict.Mode {
		return retry
	}
	for _, f := range v.Floors {
		if f.At > a.Seen {
			return retry
		}
	}
	return satisfied
}

// edit makes the edited arguments a proposal of its own and takes it through every
// layer (X12, H3). The person who wrote them satisfies ask
// and edit, never skip or deny.
func (p *pending) edit(ctx context.Context, args []byte, approval *stopgate.Approval) *pending {
	child, err := p.reopen(ctx)
	if err != nil {
		p.deny(stopgate.LayerFailure, stopgate.CodePolicyError)
		return nil
	}
	child.granted = approval
	p.mu.Lock()
	if p.prompt != nil { // it has ended
		child.giveBackApproval, child.usedApproval = p.prompt.answer.GiveBack, p.usedApproval
	}
	p.mu.Unlock()
	child.Feed(args)
	child.Close(stopgate.Ended)
	child.mu.Lock()
	ctx = child.beginResolve(ctx)
	child.mu.Unlock()
	if child.askPolicyLayers(ctx) {
		child.askPeopleAndJudges(ctx)
	}
	child.abort(nil)
	return child
}

// reopen opens the call again, for the arguments that a person edited.
func (p *pending) reopen(ctx context.Context) (*pending, error) {
	if p.kind == ToolCall {
		return p.g.open(ctx, p.turn, p.proposed(), p.id)
	}
	child, err := p.g.newPending(p.turn, p.proposed(), p.id)
	if err != nil {
		return nil, err
	}
	child.kind, child.to = p.kind, p.to
	child.begin()
	child.beginSession(ctx)
	return child, nil
}
