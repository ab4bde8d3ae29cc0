package approve

import (
	"context"
	"fmt"
	"time"
)

// List returns the entries that a filter selects, newest first.
func (q *Queue) List(ctx context.Context, f Filter) ([]Entry, error) {
	return q.store.Entries(ctx, f)
}

// Entry returns one entry, or ErrUnknown if there is none.
func (q *Queue) Entry(ctx context.Context, id string) (Entry, error) { return q.store.Entry(ctx, id) }

// Answer answers a question. Of concurrent answers one is accepted, the others get ErrAnswered; a
// no is also accepted after a yes, until the call is released.
func (q *Queue) Answer(ctx context.Context, id string, r Reply) (Entry, error) {
	now := q.opts.Now()
	e, err := q.store.ChangeEntry(ctx, id, func(e Entry) (Entry, error) { return e.answer(r, now) })
	if err != nil {
		return Entry{}, err
	}
	q.changes.send()
	return e, nil
}

// Grant answers a question with yes, and creates a grant of this scope. If several persons have to
// approve, all have to ask for the same grant; before the last of them the entry waits, and there is no
// grant. The yes is stored first:
// otherwise the grant could release calls although the question was just answered with no. If
// storing the grant fails then, the error is ErrNotKept, and the entry is returned, answered.
func (q *Queue) Grant(ctx context.Context, id string, r Reply, s Scope) (Entry, Grant, error) {
	e, err := q.store.Entry(ctx, id)
	if err != nil {
		return Entry{}, Grant{}, err
	}
	if r.Seen == "" {
		r.Seen = e.Binding.Hash()
	}
	r.Kind, r.scope = Yes, s.text()
	now := q.opts.Now()
	if _, err := e.answer(r, now); err != nil {
		return Entry{}, Grant{}, err
	}
	g, err := newGrant(e, s, r.By, now)
	if err != nil {
		return Entry{}, Grant{}, err
	}
	if e, err = q.Answer(ctx, id, r); err != nil || e.State == Waiting { // others have to approve, too
		return e, Grant{}, err
	}
	g.By = e.By
	if err := q.store.AddGrant(context.WithoutCancel(ctx), g); err != nil {
		return e, Grant{}, fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	return e, g, nil
}

// Grants returns the grants that a filter selects, newest first.
func (q *Queue) Grants(ctx context.Context, f GrantFilter) ([]Grant, error) {
	return q.store.Grants(ctx, f)
}

// Revoke ends a grant. It may be repeated.
func (q *Queue) Revoke(ctx context.Context, id string) (Grant, error) {
	now := q.opts.Now()
	return q.store.ChangeGrant(ctx, id, func(g Grant) (Grant, error) {
		if g.Revoked.IsZero() {
			g.Revoked = now
		}
		return g, nil
	})
}

// Watch calls show with the entries that wait for an answer, now and after every possible change,
// until ctx ends or show returns an error. While a watcher runs, the queue is reachable (S5).
func (q *Queue) Watch(ctx context.Context, show func([]Entry) error) error {
	tick := time.NewTicker(q.opts.Poll)
	defer tick.Stop()
	var last string
	var until time.Time
	for first := true; ; first = false {
		changed, hinted := q.changes.wait(), q.hints()
		if now := q.opts.Now(); until.Sub(now) < watcherAttendance/2 || until.Sub(now) > watcherAttendance {
			until = now.Add(watcherAttendance)
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
		case <-changed:
		case <-hinted:
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Attend records that a person will read the queue for d, at most MaxAttendance. Calls that need an
// answer wait meanwhile, as they do while a watcher runs.
func (q *Queue) Attend(ctx context.Context, d time.Duration) error {
	return q.store.Attend(ctx, q.opts.Now().Add(min(d, MaxAttendance)))
}

// MaxAttendance is the longest time for which a reader counts as present without a new Attend. A
// stored time further in the future was written before the clock was set back (FM13).
const MaxAttendance = 10 * time.Minute

// watcherAttendance is how long a watcher that vanished still counts as present.
const watcherAttendance = 4 * time.Second

// versions returns equal strings for lists that look the same.
func versions(entries []Entry) string {
	s := ""
	for _, e := range entries {
		s += e.ID
		if e.Complete {
			s += "+"
		}
		for range e.Consents {
			s += "!"
		}
	}
	return s
}
