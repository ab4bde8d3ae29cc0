package gate

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// releaseUpdate is the update of the store by which a call is released.
type releaseUpdate struct {
	*pending
	call     session.Call
	facts    []session.Fact
	keys     []session.Key
	view     session.View
	run      policyRunner
	row      *stopgate.Record  // for a journal
	heldRows []stopgate.Record // before it
	enforced bool
	head     uint64 // what decide was asked on
}

// commitRelease checks the session policies on current facts and writes the fact of the release,
// in one atomic step (I19). A journal writes the row in the same step.
func (c *commitment) commitRelease(ctx context.Context) {
	d := c.prepareRelease(ctx)
	if d == nil {
		return
	}
	defer c.turn.isolated.lockReleases()()
	r := update(ctx, c.g, owner(&c.call), d.keys, func(s session.State) (Change, uint64, error) {
		at := *d // a late store may call this after the update was given up
		change, err := at.decide(s)
		return change, at.head, err
	})
	c.applyRelease(ctx, d, reply[struct{}]{fault: r.fault, err: r.err, stack: r.stack}, r.value)
}

// decide returns the change to write, or the objections of the session policies.
func (d *releaseUpdate) decide(s session.State) (Change, error) {
	d.head = s.Head
	if err := d.check(s); err != nil {
		return Change{}, err
	}
	return Change{Facts: d.facts, Rows: d.rows(nil, s.Head)}, nil
}

// prepareRelease prepares the parts of the update that do not depend on the facts. It returns
// nil if the call cannot be released: it is denied, now or when its row is written.
func (c *commitment) prepareRelease(ctx context.Context) *releaseUpdate {
	p := c.pending
	if p.g.journal && !p.g.audit.ready(ctx) {
		return nil
	}
	d := &releaseUpdate{pending: p, run: p.foreignRunner(ctx), enforced: !p.under.observe}
	d.view = p.sessionView(session.State{})
	if !p.sessionCall(&d.call) {
		p.fail(stopgate.CodePolicyError, "sessions", none, "")
		return nil
	}
	keys, marks, ok := p.needsOrFail(ctx, &d.call)
	if !ok {
		return nil
	}
	if p.governed && d.enforced && p.turn.unreadable {
		p.storeFault(failed, nil, "")
		return nil
	}
	now := d.view.Now
	d.facts = []session.Fact{{
		At: now, Kind: session.Released, Proposal: p.id, Tool: p.tool, CallID: p.call.ID, Agent: p.call.Agent, Turn: p.call.Turn,
		ArgsHash: p.releasedArgsHash(), Marks: p.cache.internMarks(marks), Release: p.cache.internRelease(c),
	}}
	if approval := c.out.Approval; approval != nil && !approval.Referred {
		d.facts = append(d.facts, session.Fact{At: now, Kind: session.Approved, Proposal: p.id, Name: string(p.tool), By: approval.By})
	}
	if p.passesTables() {
		d.facts = append(d.facts, p.inheritFact(now))
	}
	for i := range d.facts {
		keys = d.facts[i].AppendKeys(keys)
	}
	d.keys = keys
	if p.g.journal {
		d.row, d.heldRows = c.row, c.heldRows
	}
	return d
}

// check asks the session policies on current facts.
func (d *releaseUpdate) check(s session.State) error {
	if !d.governed || !d.enforced {
		return nil
	}
	if d.g.uncertain(owner(&d.pending.call), s) {
		return objectionError{[]session.Decision{{Policy: "session", Code: stopgate.CodeSessionDegraded}}, s.Head}
	}
	v := &d.view
	if v.State = d.turn.isolated.overlay(s); d.run != nil {
		v.State = v.State.Copy() // code that overruns its deadline may still read it
	}
	v.Horizon = d.horizonAt(s.Head)
	if _, all := d.set.CheckEach(v, &d.call, d.run); len(all) > 0 {
		return objectionError{all, s.Head}
	}
	return nil
}

// rows appends the rows for a journal: the decision row with the position of its facts, after
// the rows that were held back.
func (d *releaseUpdate) rows(rows []*stopgate.Record, head uint64) []*stopgate.Record {
	if d.row == nil {
		return rows
	}
	r := *d.row
	r.FactsAt = head
	return append(appendCopies(rows, d.heldRows), &r)
}

// applyRelease applies the reply of the store.
func (c *commitment) applyRelease(ctx context.Context, d *releaseUpdate, r reply[struct{}], head uint64) {
	if r.fault != none {
		d.failed(ctx, r)
		return
	}
	c.facts, c.head, c.wrote = d.facts, head, d.row != nil
	if alone := c.turn.isolated; alone != nil {
		alone.addReleased(head, d.facts...)
	}
}

// failed denies after objections of session policies or a fault of the store.
func (d *releaseUpdate) failed(ctx context.Context, r reply[struct{}]) {
	p := d.pending
	var no objectionError
	switch {
	case errors.As(r.err, &no):
		p.applyObjections(no.all, no.head)
	case d.row != nil:
		for _, lost := range appendCopies(nil, d.heldRows) {
			p.g.audit.lose(lost, r.err)
		}
		p.spooled = p.g.audit.lose(d.row, r.err)
		p.rowLost = true
		p.fail(stopgate.CodeAuditUnavailable, "journal", r.fault, r.stack)
		p.withdrawUncertain(ctx, d.facts, r.fault)
	case p.governed:
		p.storeFault(r.fault, r.err, r.stack)
		p.withdrawUncertain(ctx, d.facts, r.fault)
	}
}

// leaving returns the hash of the canonical arguments that run: those that were judged,
// unless a path was cleaned (K4). The call is committed, so they do not change.
func (p *pending) releasedArgsHash() string {
	if p.eval == nil || bytes.Equal(p.eval.Document().Text(), p.final) {
		return p.hash
	}
	v, err := jsonstream.Parse(p.final, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return p.hash
	}
	sum := jsonstream.HashCanonical(v)
	return hex.EncodeToString(sum[:])
}

// withdrawUncertain withdraws a release that may or may not have been written. If that fails
// too, the release stays counted, which is the strict side.
func (p *pending) withdrawUncertain(ctx context.Context, facts []session.Fact, f fault) {
	if f == late {
		return // it may be written yet, and a withdrawal must not come first
	}
	p.mu.Lock()
	p.releaseFacts = facts
	p.mu.Unlock()
	p.withdrawRelease(ctx)
}

// withdrawRelease withdraws the release of a call that was denied later.
func (p *pending) withdrawRelease(ctx context.Context) {
	p.mu.Lock()
	released := p.releaseFacts
	p.releaseFacts = nil
	p.mu.Unlock()
	if released == nil {
		return
	}
	withdrawal := session.Fact{At: p.g.now().UnixMilli(), Kind: session.Withdrawn, Proposal: p.id}
	keys := withdrawal.AppendKeys(released[0].Keys())
	ctx, cancel := outlive(ctx)
	defer cancel()
	update(ctx, p.g, owner(&p.call), keys, func(s session.State) (Change, struct{}, error) {
		return Change{Facts: []session.Fact{withdrawal}}, struct{}{}, nil
	})
	p.turn.isolated.addWithdrawn(released[0], withdrawal)
}

func distinct(keys []session.Key) []session.Key {
	some := make([]session.Key, 0, len(keys))
	for _, k := range keys {
		if !slices.Contains(some, k) {
			some = append(some, k)
		}
	}
	return some
}
