package gate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/internal/gate/recent"
	"github.com/stopgate/stopgate/session"
)

// approvalLayer is the question to the approver about a call, and the approval that satisfies
// the verdict.
type approvalLayer struct {
	p *pending

	// Guarded by the mu of the call.
	prompt   *prompt
	giveBack func(context.Context) // of an edited call: makes the approval usable again
	used     bool                  // the approval is marked as used

	// Of the goroutine that resolves the call.
	given  *stopgate.Approval // of its question, or of the edit that made it
	passes []string           // the objections of session policies that it allows
	edited *pending           // the proposal that a person edited the call into
}

// approval is the layer of the approver: it waits for the answer to the question. Judges and
// approver are asked at the same time, and both must pass (S29).
func approval(ctx context.Context, p *pending) {
	l := &p.approval
	if p.under.observe || l.given != nil { // the person who edited the call is not asked again
		return
	}
	for firstAnswer := true; ; firstAnswer = false {
		a, state := l.await(ctx)
		switch {
		case a == nil:
			return
		case state == retry && firstAnswer:
			l.openAgain(ctx)
			continue
		case state != satisfied:
			p.deny(stopgate.LayerApproval, stopgate.CodeApprovalStale)
			return
		}
		l.pass()
		l.given = &stopgate.Approval{ID: a.ID, By: a.By, Edited: a.Kind == Edited, Referred: a.Referred}
		if a.Kind == Edited {
			l.edit(ctx, a.Args)
		}
		return
	}
}

// openIfAsked opens a prompt if the verdict asks and none is open; p.mu is held.
func (l *approvalLayer) openIfAsked(ctx context.Context) {
	if v := &l.p.verdicts; !v.terminal && l.prompt == nil && l.given == nil && !v.latest().Mode.Permissive() {
		l.open(ctx)
	}
}

// openAgain asks again about the complete call.
func (l *approvalLayer) openAgain(ctx context.Context) {
	p := l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.verdicts.terminal {
		l.open(ctx)
	}
}

// pass remembers the objections that the approval allows: those that its question showed.
func (l *approvalLayer) pass() {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	for i := range l.p.sessions.asks {
		l.passes = append(l.passes, l.p.sessions.asks[i].Identity())
	}
}

// unanswered returns the objections that the approval of the call does not allow.
func (l *approvalLayer) unanswered(all []session.Decision) (left []session.Decision) {
	for i := range all {
		if !all[i].Ask || !slices.Contains(l.passes, all[i].Identity()) {
			left = append(left, all[i])
		}
	}
	return left
}

// answerState is the result of the final check of an answer.
type answerState uint8

const (
	stale answerState = iota
	retry
	satisfied
)

// await waits for the prompt and checks its answer against the current call (H1, H2). It
// returns nil if there is no prompt or the call is denied.
func (l *approvalLayer) await(ctx context.Context) (*Answer, answerState) {
	p := l.p
	p.mu.Lock()
	q := l.prompt
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
	if p.verdicts.terminal {
		return nil, stale
	}
	v, now := *p.verdicts.latest(), p.g.now()
	switch {
	case v.Mode == stopgate.Edit && !q.able.CanEdit:
		p.addVerdict(p.refusal(stopgate.LayerApproval, stopgate.CodeNoApprover))
		return nil, stale
	case q.expired(now, p.g.limits.Approval):
		p.addVerdict(p.refusal(stopgate.LayerApproval, stopgate.CodeApprovalTimeout))
		return nil, stale
	}
	a := q.answer
	if s := l.check(q, v, a); s != satisfied {
		return &a, s
	}
	if a.ID == "" {
		a.ID = string(p.id)
	} else if !p.g.used.use(a.ID, now, q.asked.Add(p.g.limits.Approval)) {
		return &a, stale
	} else {
		l.used = true
	}
	return &a, satisfied
}

// check compares the answered call with the call that would run; p.mu is held.
func (l *approvalLayer) check(q *prompt, v stopgate.Verdict, a Answer) answerState {
	if a.Binding == l.binding() {
		return satisfied
	}
	if !a.Unseen || !q.early || a.Kind != Approved || a.Binding != (Binding{}) {
		return stale
	}
	// The approval includes the arguments that followed, unless they gave a new reason to
	// ask.
	if v.Mode != q.verdict.Mode || len(l.p.sessions.asks) > 0 {
		return retry
	}
	for _, f := range v.Floors {
		if f.At > a.Seen {
			return retry
		}
	}
	return satisfied
}

// edit makes the edited arguments a proposal of its own and takes it through every layer
// (X12, H3). The person who wrote them satisfies ask and edit, never skip or deny.
func (l *approvalLayer) edit(ctx context.Context, args []byte) {
	p := l.p
	child, err := l.reopen(ctx)
	if err != nil {
		p.deny(stopgate.LayerFailure, stopgate.CodePolicyError)
		return
	}
	p.mu.Lock()
	child.approval.given, child.approval.used, child.approval.passes = l.given, l.used, l.passes
	if l.prompt != nil { // it has ended
		child.approval.giveBack = l.prompt.answer.GiveBack
	}
	p.mu.Unlock()
	child.Feed(args)
	child.Close(stopgate.Ended)
	child.mu.Lock()
	r := child.beginResolve(ctx)
	child.mu.Unlock()
	runLayers([]resolution{r})
	l.edited = child
}

// reopen opens the call again, for the arguments that a person edited.
func (l *approvalLayer) reopen(ctx context.Context) (*pending, error) {
	p := l.p
	if p.kind == ToolCall {
		return p.g.open(ctx, p.turn, p.proposed(), p.id)
	}
	child, err := p.g.newPending(p.turn, p.proposed(), p.id)
	if err != nil {
		return nil, err
	}
	child.kind, child.handoff.to = p.kind, p.handoff.to
	child.begin()
	child.sessions.begin(ctx)
	return child, nil
}

// giveBackUnused makes the approval of a call usable again that was not released. The
// approval of an edit that the policy refused stays used: the same edit would be refused
// again.
func (l *approvalLayer) giveBackUnused(ctx context.Context) {
	p := l.p
	p.mu.Lock()
	back, id := l.giveBack, ""
	l.giveBack = nil
	failed := p.verdicts.latest().Layer == stopgate.LayerFailure
	if p.parent != "" {
		id = l.given.ID
		if !failed {
			back = nil
		}
	} else if q := l.prompt; q != nil {
		select {
		case <-q.ended:
			if q.answer.Kind == Approved || failed {
				back, id = q.answer.GiveBack, q.answer.ID
			}
			q.answer.GiveBack = nil
		default:
		}
	}
	p.mu.Unlock()
	if back == nil {
		return
	}
	if l.used {
		p.g.used.forget(id)
	}
	port.Invoke(context.WithoutCancel(ctx), &p.g.guards.approver, p.g.limits.Abilities, func(ctx context.Context) (struct{}, error) {
		back(ctx)
		return struct{}{}, nil
	})
}

// approvals holds the ids of used approvals until they expire (I16).
type approvals struct {
	mu   sync.Mutex
	used map[string]time.Time
}

// use marks an approval as used and reports whether it was not used before.
func (a *approvals) use(id string, now time.Time, expires time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.used) >= recent.Generation {
		for old, at := range a.used {
			if now.After(at) {
				delete(a.used, old)
			}
		}
	}
	if _, used := a.used[id]; used {
		return false
	}
	if a.used == nil {
		a.used = make(map[string]time.Time)
	}
	a.used[id] = expires
	return true
}

// forget makes an approval usable again.
func (a *approvals) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.used, id)
}
