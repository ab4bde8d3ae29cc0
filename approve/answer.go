package approve

import (
	"context"
	"fmt"
	"time"
)

// List returns the entries that a filter lets through, newest first.
func (q *Queue) List(ctx context.Context, f Filter) ([]Entry, error) {
	return q.store.Entries(ctx, f)
}

// Entry returns one entry, ErrUnknown if there is none.
func (q *Queue) Entry(ctx context.Context, id string) (Entry, error) { return q.store.Entry(ctx, id) }

// Answer answers a question. Of answers that race one counts, the others get
// ErrAnswered; a no also counts after a yes, until the call has left.
func (q *Queue) Answer(ctx context.Context, id string, r Reply) (Entry, error) {
	now := q.opts.Now()
	e, err := q.store.ChangeEntry(ctx, id, func(e Entry) (Entry, error) { return e.answer(r, now) })
	if err != nil {
		return Entry{}, err
	}
	q.bell.ring()
	return e, nil
}

// Grant answers a question with yes, for now and for what a grant of this scope
// covers. The yes counts first: a grant without one would let calls out to which
// somebody else just said no. If the grant then cannot be kept, the error is ErrNotKept
// beside the entry, which is answered.
func (q *Queue) Grant(ctx context.Context, id string, r Reply, s Scope) (Entry, Grant, error) {
	e, err := q.store.Entry(ctx, id)
	if err != nil {
		return Entry{}, Grant{}, err
	}
	if r.Seen == "" {
		r.Seen = e.Binding.Hash()
	}
	r.Kind = Yes
	now := q.opts.Now()
	if _, err := e.answer(r, now); err != nil {
		return Entry{}, Grant{}, err
	}
	g, err := newGrant(e, s, r.By, now)
	if err != nil {
		return Entry{}, Grant{}, err
	}
	if e, err = q.Answer(ctx, id, r); err != nil {
		return Entry{}, Grant{}, err
	}
	if err := q.store.AddGrant(context.WithoutCancel(ctx), g); err != nil {
		return e, Grant{}, fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	return e, g, nil
}

// Grants returns the grants that a filter lets through, newest first.
func (q *Queue) Grants(ctx context.Context, f GrantFilter) ([]Grant, error) {
	return q.store.Grants(ctx, f)
}

// Revoke ends a grant. Revoking it again changes nothing.
func (q *Queue) Revoke(ctx context.Context, id string) (Grant, error) {
	now := q.opts.Now()
	return q.store.ChangeGrant(ctx, id, func(g Grant) (Grant, error) {
		if g.Revoked.IsZero() {
			g.Revoked = now
		}
		return g, nil
	})
}

// Watch reports the entries that wait for an answer, now and whenever that may have
// changed, to show, until ctx ends or show returns an error. While somebody watches,
// the queue is reachable (S5).
func (q *Queue) Watch(ctx context.Context, show func([]Entry) error) error {
	tick := time.NewTicker(q.opts.Poll)
	defer tick.Stop()
	var last string
	var until time.Time
	for first := true; ; first = false {
		rung := q.bell.wait()
		if now := q.opts.Now(); until.Sub(now) < attendance/2 || until.Sub(now) > attendance {
			until = now.Add(attendance)
			if err := q.store.Attend(ctx, until); err != nil {
				return err
			}
		}
		entries, err := q.store.Entries(ctx, Filter{State: Waiting, Live: q.opts.Now()})
		if err != nil {
			return err
		}
		if now := versions(entries); first || now != last {
			last = now
			if err := show(entries); err != nil {
				return err
			}
		}
		select {
		case <-rung:
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Attend notes that somebody will be reading the queue for some time, MaxAttendance at
// most, as a watcher does: calls that need an answer meanwhile wait for one.
func (q *Queue) Attend(ctx context.Context, d time.Duration) error {
	return q.store.Attend(ctx, q.opts.Now().Add(min(d, MaxAttendance)))
}

// MaxAttendance is how long somebody is believed to read the queue without saying so
// again. What is noted of a later time is of a clock that was set back since (FM13).
const MaxAttendance = 10 * time.Minute

// attendance is how long a watcher that vanished is still believed to be there.
const attendance = 4 * time.Second

// versions is equal for two lists that show the same.
func versions(entries []Entry) string {
	s := ""
	for _, e := range entries {
		s += e.ID
		if e.Complete {
			s += "+"
		}
	}
	return s
}
