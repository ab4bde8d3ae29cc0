package gate

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// ResolveAll is [Pending.Resolve] for the closed calls of one turn, in the order in
// which the model made them. People and judges are asked about all of them at the same
// time. Reservations and rows are made in the order of the list, each on the facts that
// the calls before it left; those of neighbours that may leave are written together.
// One that fails takes nothing from the others.
//
// An outcome stands where its call stands. That of a call that is not closed, or is
// resolved already, denies and has no verdict; in deny mode throw, too, the outcome
// alone tells of a denial.
func (g *Gate) ResolveAll(ctx context.Context, calls []*Pending) []stopgate.Outcome {
	outs := make([]stopgate.Outcome, len(calls))
	all := make([]settling, 0, len(calls))
	for i, handle := range calls {
		p := handle.pending
		outs[i].Proposal = p.id
		p.mu.Lock()
		if p.stage == closed {
			s := settling{pending: p, to: &outs[i]}
			if p.plain() {
				p.stage = resolving
			} else {
				s.inner = p.resolve(ctx)
			}
			all = append(all, s)
		}
		p.mu.Unlock()
	}
	for i := range all {
		if s := &all[i]; s.inner != nil {
			s.open = s.consider(s.inner)
		}
	}
	for i := range all {
		if s := &all[i]; s.open {
			s.question(s.inner)
		}
	}
	for i := range all {
		if s := &all[i]; s.inner != nil {
			if s.open {
				s.approval, s.edited = s.hearAll(s.inner)
			}
			s.abort(nil)
			s.join()
		}
	}
	g.commitAll(ctx, all)
	for i := range all {
		all[i].handOut(all[i].to)
	}
	return outs
}

// settling is one call on its way through ResolveAll.
type settling struct {
	*pending
	to       *stopgate.Outcome
	inner    context.Context // of what is asked; nil if nothing is
	open     bool            // there is something to ask
	approval *stopgate.Approval
	edited   *pending
}

// question begins to ask the judges and people whom the call needs, and does not wait
// for them.
func (p *pending) question(ctx context.Context) {
	if p.under.observe {
		return
	}
	p.promptIfAsked(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.convene(ctx)
}

// commitAll commits calls in their order; neighbours that leave do so together. Where an
// edited proposal took the place of another one, it has its place in the list too.
func (g *Gate) commitAll(ctx context.Context, all []settling) {
	var leaving []*commitment
	flush := func() {
		switch {
		case len(leaving) == 0:
		case g.store == nil:
			g.finishTogether(ctx, leaving)
		default:
			g.leaveTogether(ctx, leaving)
		}
		leaving = leaving[:0]
	}
	for i := range all {
		s := &all[i]
		if s.edited != nil {
			flush()
			s.pending = s.commitEdited(ctx, s.approval, s.edited)
			continue
		}
		c := &commitment{pending: s.pending}
		c.decide(s.approval)
		if c.leaves || g.store == nil {
			leaving = append(leaving, c)
			continue
		}
		flush()
		c.finish(ctx)
	}
	flush()
}

// leaveTogether lets calls leave in one update of the store. Where one of them may not,
// nothing is written, and they leave one after the other.
func (g *Gate) leaveTogether(ctx context.Context, calls []*commitment) {
	if len(calls) == 1 || !g.departTogether(ctx, calls) {
		for _, c := range calls {
			c.leave(ctx)
			c.finish(ctx)
		}
		return
	}
	g.finishTogether(ctx, calls)
}

// finishTogether is finish for several calls: their rows are written at once where the
// recorder can do that.
func (g *Gate) finishTogether(ctx context.Context, calls []*commitment) {
	var rows []*stopgate.Record
	var of []*commitment
	for _, c := range calls {
		switch c.ready(ctx); {
		case c.wrote:
		case g.ledger.batch == nil || c.missed || c.row == nil:
			c.write(ctx)
		default:
			rows, of = c.rows(rows), append(of, c)
		}
	}
	if len(rows) > 0 {
		err := g.ledger.writeAll(ctx, rows)
		for _, c := range of {
			c.written(err)
		}
	}
	for _, c := range calls {
		c.finished(ctx)
	}
}

// departTogether reports whether the store has said what becomes of the calls.
func (g *Gate) departTogether(ctx context.Context, calls []*commitment) bool {
	departures := make([]*departure, len(calls))
	var keys []session.Key
	whose := owner(&calls[0].call)
	for i := range calls {
		d := calls[i].departs(ctx)
		if d == nil || owner(&calls[i].call) != whose || calls[i].turn.alone != nil {
			return false
		}
		departures[i], keys = d, append(keys, d.keys...)
	}
	r := update(ctx, g, whose, distinct(keys), func(s session.State) (change Change, heads []uint64, err error) {
		for i := range departures {
			d := departures[i]
			if err := d.check(s); err != nil {
				return Change{}, nil, err
			}
			heads = append(heads, s.Head)
			change.Rows = d.rows(change.Rows, s.Head)
			if s, _, err = s.Append(d.facts); err != nil {
				return Change{}, nil, err
			}
			change.Facts = append(change.Facts, d.facts...)
		}
		return change, heads, nil
	})
	var no objected
	if errors.As(r.err, &no) {
		return false
	}
	for i := range departures {
		var head uint64
		if r.fault == none {
			head = r.value[i]
		}
		calls[i].became(ctx, departures[i], reply[struct{}]{fault: r.fault, err: r.err, stack: r.stack}, head)
	}
	return true
}
