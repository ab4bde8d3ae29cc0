package approve

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate/gate"
)

// Granted finds a grant that answers a question, and uses it. It is for approvers that ask a person
// themselves.
func (q *Queue) Granted(ctx context.Context, view gate.View) (a gate.Answer, ok bool, err error) {
	now := q.opts.Now()
	grants, err := q.store.Grants(ctx, GrantFilter{Principal: view.Binding.Principal, Tool: view.Binding.Tool, Live: now})
	if err != nil {
		return gate.Answer{}, false, err
	}
	needed := q.Requires(&view.Call)
	for _, g := range grants {
		if !g.covers(view, now) || !g.meets(needed) {
			continue
		}
		g, err := q.store.ChangeGrant(ctx, g.ID, func(g Grant) (Grant, error) {
			if !g.covers(view, now) {
				return g, ErrUsed
			}
			g.Uses++
			return g, nil
		})
		switch {
		case errors.Is(err, ErrUsed), errors.Is(err, ErrUnknown):
			continue
		case err != nil:
			return gate.Answer{}, false, err
		}
		a := view.Approve(g.By)
		a.Via = ViaGrant
		a.ID = "grant:" + g.ID + ":" + string(view.Proposal) // a grant is used many times, an approval once
		a.GiveBack = func(ctx context.Context) {
			_, err := q.store.ChangeGrant(ctx, g.ID, func(g Grant) (Grant, error) {
				g.Uses = max(g.Uses-1, 0)
				return g, nil
			})
			if err != nil {
				q.opts.Failed("return the use of a grant", err)
			}
		}
		return a, true, nil
	}
	return gate.Answer{}, false, nil
}

// Offer returns the narrowest grant that covers a question within a scope. [Queue.Keep] stores
// it.
func Offer(v gate.View, s Scope, by string, now time.Time) (Grant, error) {
	return newGrant(newEntry(v, now), s, by, now)
}

// Keep stores a grant of [Offer], which is then in force.
func (q *Queue) Keep(ctx context.Context, g Grant) error { return q.store.AddGrant(ctx, g) }
