package gate

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/session"
)

// releaseTogether releases calls in one update of the store. If one of them must not be released,
// it writes none, and each is committed on its own.
func releaseTogether(ctx context.Context, calls []*commitment, waited bool) (asked bool) {
	if len(calls) == 1 || waited || !updateTogether(ctx, calls) {
		for _, c := range calls {
			waited = c.release(ctx, waited)
			c.finish(ctx)
		}
		return waited
	}
	finishTogether(ctx, calls)
	return false
}

// finishTogether is finish for several calls. Their rows are written at once if the recorder
// supports that.
func finishTogether(ctx context.Context, calls []*commitment) {
	audit := calls[0].p.g.audit
	var list []*stopgate.Record
	var of []*commitment
	for _, c := range calls {
		switch c.ready(ctx); {
		case c.wrote:
		case audit.RecordAll == nil || c.rowLost || c.row == nil:
			c.write(ctx)
		default:
			list, of = c.rows(list), append(of, c)
		}
	}
	if len(list) > 0 {
		err := audit.WriteAll(ctx, list)
		for _, c := range of {
			c.written(err)
		}
	}
	for _, c := range calls {
		c.finished(ctx)
	}
}

// updateTogether reports whether one update of the store decided all calls.
func updateTogether(ctx context.Context, calls []*commitment) bool {
	updates := make([]*releaseUpdate, len(calls))
	var keys []session.Key
	first := owner(&calls[0].p.call)
	for i, c := range calls {
		u := c.prepareRelease(ctx)
		if u == nil || owner(&c.p.call) != first || c.p.turn.Isolated != nil {
			return false
		}
		updates[i], keys = u, append(keys, u.keys...)
	}
	var r port.Reply[[]position]
	joinTexts(calls, func(join func(*Change)) error {
		r = update(ctx, calls[0].p.g.sessions, first, distinct(keys), func(s session.State) (change Change, where []position, err error) {
			for _, u := range updates {
				if err := u.check(s); err != nil {
					return Change{}, nil, err
				}
				where = append(where, position{s.Head, s.Now})
				change.Releases = change.Releases || u.p.Enforced()
				change.Rows = u.rows(change.Rows, s.Head)
				facts := u.facts
				if s.Now != 0 {
					facts = at(s.Now, facts)
				}
				if s, _, err = s.Append(facts); err != nil {
					return Change{}, nil, err
				}
				change.Facts = append(change.Facts, facts...)
			}
			join(&change)
			return change, where, nil
		})
		return r.Problem("release")
	})
	var no objectionError
	if errors.As(r.Err, &no) {
		return false
	}
	for i, u := range updates {
		var where position
		if r.Fault == port.None {
			where = r.Value[i]
		}
		calls[i].applyRelease(ctx, u, r.Fault, r.Err, r.Stack, where)
	}
	return true
}
