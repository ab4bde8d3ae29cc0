package gate

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// commitAll commits calls in their order; neighbours that are released are committed together.
// An edited proposal takes the position of the call that it replaces.
func (g *Gate) commitAll(ctx context.Context, all []resolution) {
	var leaving []*commitment
	flush := func() {
		switch {
		case len(leaving) == 0:
		case g.store == nil:
			g.finishTogether(ctx, leaving)
		default:
			g.releaseTogether(ctx, leaving)
		}
		leaving = leaving[:0]
	}
	for i := range all {
		r := &all[i]
		if r.edited != nil {
			flush()
			r.call.commit(ctx, r.approval, true)
			if v := &r.call.out.Verdict; v.Terminal() {
				r.edited.deny(v.Layer, v.Code)
			}
			r.edited.commit(ctx, r.approval, false)
			r.call = r.edited
			continue
		}
		c := &commitment{pending: r.call}
		c.decide(r.approval)
		if c.releases || g.store == nil {
			leaving = append(leaving, c)
			continue
		}
		flush()
		c.finish(ctx)
	}
	flush()
}

// releaseTogether releases calls in one update of the store. If one of them must not be released,
// nothing is written, and each is committed on its own.
func (g *Gate) releaseTogether(ctx context.Context, calls []*commitment) {
	if len(calls) == 1 || !g.updateTogether(ctx, calls) {
		for _, c := range calls {
			c.commitRelease(ctx)
			c.finish(ctx)
		}
		return
	}
	g.finishTogether(ctx, calls)
}

// finishTogether is finish for several calls. Their rows are written at once if the recorder
// supports that.
func (g *Gate) finishTogether(ctx context.Context, calls []*commitment) {
	var rows []*stopgate.Record
	var of []*commitment
	for _, c := range calls {
		switch c.ready(ctx); {
		case c.wrote:
		case g.audit.can.RecordAll == nil || c.rowLost || c.row == nil:
			c.write(ctx)
		default:
			rows, of = c.rows(rows), append(of, c)
		}
	}
	if len(rows) > 0 {
		err := g.audit.writeAll(ctx, rows)
		for _, c := range of {
			c.written(err)
		}
	}
	for _, c := range calls {
		c.finished(ctx)
	}
}

// updateTogether reports whether one update of the store decided all calls.
func (g *Gate) updateTogether(ctx context.Context, calls []*commitment) bool {
	updates := make([]*releaseUpdate, len(calls))
	var keys []session.Key
	first := owner(&calls[0].call)
	for i := range calls {
		d := calls[i].prepareRelease(ctx)
		if d == nil || owner(&calls[i].call) != first || calls[i].turn.isolated != nil {
			return false
		}
		updates[i], keys = d, append(keys, d.keys...)
	}
	r := update(ctx, g, first, distinct(keys), func(s session.State) (change Change, heads []uint64, err error) {
		for i := range updates {
			d := updates[i]
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
	var no objectionError
	if errors.As(r.err, &no) {
		return false
	}
	for i := range updates {
		var head uint64
		if r.fault == none {
			head = r.value[i]
		}
		calls[i].applyRelease(ctx, updates[i], reply[struct{}]{fault: r.fault, err: r.err, stack: r.stack}, head)
	}
	return true
}
