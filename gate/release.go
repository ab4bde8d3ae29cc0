package gate

import (
	"context"
	"errors"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/session"
)

// objectionError is the error of a check inside an update, which it rolls back.
type objectionError struct {
	all  []session.Decision
	head uint64
}

func (objectionError) Error() string { return "session policy objects" }

// releaseUpdate is the update of the store by which a call is released.
type releaseUpdate struct {
	p        *pending
	call     session.Call
	facts    []session.Fact
	keys     []session.Key
	view     session.View
	run      policyRunner
	row      *stopgate.Record  // for a journal
	heldRows []stopgate.Record // before it
}

// position is where a change was decided: the facts before it, and the time of the store, 0 if it
// has none.
type position struct {
	head uint64
	now  int64
}

// release checks the session policies on current facts and writes the fact of the release, in
// one atomic step (I19). A journal writes the row in the same step. Where a policy asks about
// something that came up only now, such as a limit that another call of the turn has reached, a
// person is asked, and the step is taken once more. waited reports that a person was asked about a
// call since the final check of this one, asked that one was since that of the next call.
func (c *commitment) release(ctx context.Context, waited bool) (asked bool) {
	if waited {
		if c.again(ctx, func(context.Context) {}); !c.releases {
			return true
		}
	}
	no, asks := c.tryRelease(ctx)
	if !asks {
		return waited
	}
	if c.ask(ctx, no); c.releases {
		c.tryRelease(ctx)
	}
	return true
}

// tryRelease takes the step of the release once. Where it only fails because a person was not
// asked yet, it returns the objections, and nothing has changed.
func (c *commitment) tryRelease(ctx context.Context) (no objectionError, asks bool) {
	u := c.prepareRelease(ctx)
	if u == nil {
		return no, false
	}
	p := c.p
	defer p.turn.Isolated.LockReleases()()
	var r port.Reply[position]
	joinTexts([]*commitment{c}, func(join func(*Change)) error {
		r = update(ctx, p.g.sessions, owner(&p.call), u.keys, func(s session.State) (Change, position, error) {
			at := *u // a late store may call this after the update was given up
			change, err := at.decide(s)
			join(&change)
			return change, position{s.Head, s.Now}, err
		})
		return r.Problem("release")
	})
	if errors.As(r.Err, &no) && p.approval.given == nil && !slices.ContainsFunc(no.all, func(d session.Decision) bool { return !d.Ask }) {
		return no, true
	}
	c.applyRelease(ctx, u, r.Fault, r.Err, r.Stack, r.Value)
	return no, false
}

// ask asks about objections that came up in the step of the release, and makes the outcome again.
func (c *commitment) ask(ctx context.Context, no objectionError) {
	p := c.p
	c.again(ctx, func(ctx context.Context) {
		p.mu.Lock()
		p.sessions.applyLocked(no.all, no.head)
		p.approval.openIfAsked(ctx)
		p.mu.Unlock()
		approval(ctx, p)
		c.late = p.approval.edited
		c.edited = c.late != nil
	})
}

// again takes a step of the pipeline and the final check, and makes the outcome again: while a
// person was asked, the policy may have changed, and the gate may have been locked.
func (c *commitment) again(ctx context.Context, step func(context.Context)) {
	p := c.p
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.mu.Lock()
	p.stage, p.abort = resolving, cancel
	p.mu.Unlock()
	step(ctx)
	finalCheck(ctx, p)
	endQuestions(p)
	c.decide()
}

// prepareRelease prepares the parts of the update that do not depend on the facts. It returns
// nil if the call cannot be released and is denied.
func (c *commitment) prepareRelease(ctx context.Context) *releaseUpdate {
	p := c.p
	l := &p.sessions
	if p.g.sessions.journal && !p.g.audit.Ready(ctx) {
		// Denied here: the next attempt may write the row, and would write it without the facts.
		c.loseRow(p.heldRows, c.row, nil)
		p.fail(p.g.rowUnavailable(), "journal", port.Failed, "")
		return nil
	}
	u := &releaseUpdate{p: p, run: l.runner(ctx)}
	u.view = l.view(session.State{})
	if !l.call(&u.call) {
		p.fail(stopgate.CodePolicyError, "sessions", port.None, "")
		return nil
	}
	needs, ok := l.needsOrFail(ctx, &u.call)
	if !ok {
		return nil
	}
	if l.governed && p.Enforced() && p.turn.Unreadable {
		l.fault(port.Failed, nil, "")
		return nil
	}
	now := u.view.Now
	u.facts = []session.Fact{{
		At: now, Kind: session.Released, Proposal: p.id, Tool: l.tool, CallID: p.call.ID, Agent: p.call.Agent, Turn: p.call.Turn,
		ArgsHash: p.args.releasedHash(p.verdicts.eval), Marks: p.bound.cache.internMarks(needs.marks), Release: p.bound.cache.internRelease(p, &c.result.verdict),
	}}
	if approval := p.out.Approval; approval != nil && !approval.Referred {
		u.facts = append(u.facts, session.Fact{At: now, Kind: session.Approved, Proposal: p.id, Name: string(l.tool), By: approval.By})
	}
	if p.handoff.passesTables() {
		u.facts = append(u.facts, p.handoff.inheritFact(now))
	}
	u.keys = needs.keys
	for i := range u.facts {
		u.keys = u.facts[i].AppendKeys(u.keys)
	}
	if p.g.sessions.journal {
		u.row, u.heldRows = c.row, p.heldRows
	}
	return u
}

// decide returns the change to write, or the objections of the session policies.
func (u *releaseUpdate) decide(s session.State) (Change, error) {
	if err := u.check(s); err != nil {
		return Change{}, err
	}
	return Change{Facts: u.facts, Rows: u.rows(nil, s.Head), Releases: u.p.Enforced()}, nil
}

// check asks the session policies on current facts.
func (u *releaseUpdate) check(s session.State) error {
	p := u.p
	l := &p.sessions
	if !l.governed || !p.Enforced() {
		return nil
	}
	if p.g.sessions.isUncertain(owner(&p.call), s) {
		return objectionError{[]session.Decision{{Policy: "session", Code: stopgate.CodeSessionDegraded}}, s.Head}
	}
	v := &u.view
	if v.State = p.turn.Isolated.Overlay(s); u.run != nil {
		v.State = v.State.Copy() // code that overruns its deadline may still read it
	}
	v.Horizon = l.horizonAt(s.Head)
	if s.Now != 0 {
		v.Now = s.Now
	}
	_, all := l.set.CheckEach(v, &u.call, u.run)
	if all = p.approval.unanswered(all); len(all) > 0 {
		return objectionError{all, s.Head}
	}
	return nil
}

// rows appends the rows for a journal: the decision row with the position of its facts, after
// the rows that were held back.
func (u *releaseUpdate) rows(list []*stopgate.Record, head uint64) []*stopgate.Record {
	if u.row == nil {
		return list
	}
	r := *u.row
	r.FactsAt = head
	return append(appendCopies(list, u.heldRows), &r)
}

// applyRelease applies the reply of the store: the release is written, or the call is denied.
func (c *commitment) applyRelease(ctx context.Context, u *releaseUpdate, f port.Fault, err error, stack string, where position) {
	if f != port.None {
		c.denyRelease(ctx, u, f, err, stack)
		return
	}
	if where.now != 0 {
		u.facts = at(where.now, u.facts)
	}
	c.facts, c.head, c.wrote = u.facts, where.head, u.row != nil
	c.p.turn.Isolated.AddReleased(where.head, u.facts...)
}

// denyRelease denies after objections of session policies or a fault of the store.
func (c *commitment) denyRelease(ctx context.Context, u *releaseUpdate, f port.Fault, err error, stack string) {
	p := c.p
	var no objectionError
	var locked *LockdownError
	switch {
	case errors.As(err, &no):
		p.sessions.refuse(no)
	case errors.As(err, &locked):
		p.mu.Lock()
		p.addLockdown(locked.Lockdown)
		p.mu.Unlock()
	case u.row != nil:
		c.loseRow(u.heldRows, u.row, err)
		p.fail(p.g.rowUnavailable(), "journal", f, stack)
		p.sessions.withdrawUncertain(ctx, u.facts, f)
	case p.sessions.governed || p.g.sessions.fleet:
		p.sessions.fault(f, err, stack)
		p.sessions.withdrawUncertain(ctx, u.facts, f)
	}
}

// loseRow counts or spools the row of a release, and those that were held back for it.
func (c *commitment) loseRow(held []stopgate.Record, row *stopgate.Record, err error) {
	for _, lost := range appendCopies(nil, held) {
		c.p.g.audit.Lose(lost, err)
	}
	c.spooled = row != nil && c.p.g.audit.Lose(row, err)
	c.rowLost = row != nil
}

// refuse denies because of objections on current facts. Those that ask are not the ones that the
// approval of the call was about: it does not fit any more.
func (l *sessionLayer) refuse(no objectionError) {
	l.apply(no.all, no.head)
	if !l.p.isTerminal() {
		l.p.deny(stopgate.LayerApproval, stopgate.CodeApprovalStale)
	}
}

// withdrawUncertain withdraws a release that may or may not have been written. If that fails
// too, the release stays counted, which is the strict side.
func (l *sessionLayer) withdrawUncertain(ctx context.Context, facts []session.Fact, f port.Fault) {
	if f == port.Late {
		return // it may be written yet, and a withdrawal must not come first
	}
	l.p.mu.Lock()
	l.releaseFacts = facts
	l.p.mu.Unlock()
	l.withdraw(ctx)
}

// withdraw withdraws the release of a call that was denied later.
func (l *sessionLayer) withdraw(ctx context.Context) {
	p := l.p
	p.mu.Lock()
	released := l.releaseFacts
	l.releaseFacts = nil
	p.mu.Unlock()
	if released == nil {
		return
	}
	withdrawal := session.Fact{At: p.g.now().UnixMilli(), Kind: session.Withdrawn, Proposal: p.id}
	keys := withdrawal.AppendKeys(released[0].Keys())
	ctx, cancel := port.Detached(ctx)
	defer cancel()
	update(ctx, p.g.sessions, owner(&p.call), keys, func(s session.State) (Change, struct{}, error) {
		return Change{Facts: []session.Fact{withdrawal}}, struct{}{}, nil
	})
	p.turn.Isolated.AddWithdrawn(released[0], withdrawal)
}
