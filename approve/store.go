package approve

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
)

// Store stores entries and grants without interpreting them. Every change is atomic, also between
// processes that share the store, and durable before the method returns. After an error the change
// may or may not have been made.
type Store interface {
	// AddEntry stores a new entry, unless same returns true for a stored one with the same binding
	// hash; it then returns that entry, the newest if there are several. An empty binding hash
	// equals no other. same is pure and does not call the store.
	AddEntry(ctx context.Context, e Entry, same func(Entry) bool) (Entry, error)
	// Entry returns an entry, or ErrUnknown if there is none.
	Entry(ctx context.Context, id string) (Entry, error)
	// Entries lists the entries that a filter selects, newest first.
	Entries(ctx context.Context, f Filter) ([]Entry, error)
	// ChangeEntry calls change with an entry and stores the result. change is pure, does not call
	// the store, and may be called again with a newer version of the entry; its error is returned
	// unchanged, and the entry stays as it was.
	ChangeEntry(ctx context.Context, id string, change func(Entry) (Entry, error)) (Entry, error)

	// AddGrant stores a grant, Grants lists those that a filter selects, newest first, and
	// ChangeGrant works as ChangeEntry does.
	AddGrant(ctx context.Context, g Grant) error
	Grants(ctx context.Context, f GrantFilter) ([]Grant, error)
	ChangeGrant(ctx context.Context, id string, change func(Grant) (Grant, error)) (Grant, error)

	// Attend records that a person reads the queue until a time; Attended returns the latest such
	// time, or zero. It need not be durable. A time more than MaxAttendance before the latest one
	// replaces it: the latest one was written before the clock was set back.
	Attend(ctx context.Context, until time.Time) error
	Attended(ctx context.Context) (time.Time, error)

	// Prune removes entries and grants that expired before a time, and returns their number.
	Prune(ctx context.Context, before time.Time) (int, error)
}

// FleetStore is a [Store] that gates on several machines share.
type FleetStore interface {
	Store
	// Hints returns a channel that is closed when another gate may have changed an entry. Hints may
	// be lost: a queue also asks at its interval.
	Hints() <-chan struct{}
	// Clock returns the time of the store, by which entries and grants expire, whatever the clocks of
	// the gates are.
	Clock() time.Time
}

// Filter selects entries. A zero field selects all.
type Filter struct {
	State     State
	Proposal  stopgate.ProposalID
	Principal stopgate.Principal
	Session   stopgate.SessionID
	// Live drops entries that expired before this time.
	Live  time.Time
	Limit int
}

// Matches reports whether the filter selects an entry.
func (f Filter) Matches(e Entry) bool {
	return (f.State == "" || e.State == f.State) &&
		(f.Proposal == "" || e.Proposal == f.Proposal) &&
		(f.Principal == "" || e.Principal == f.Principal) &&
		(f.Session == "" || e.Session == f.Session) &&
		(f.Live.IsZero() || f.Live.Before(e.Expires))
}

// GrantFilter selects grants. A zero field selects all.
type GrantFilter struct {
	Principal stopgate.Principal
	Tool      stopgate.ToolName
	// Live drops grants that expired before this time, were revoked, or are used up.
	Live time.Time
}

// Matches reports whether the filter selects a grant.
func (f GrantFilter) Matches(g Grant) bool {
	return (f.Principal == "" || g.Principal == f.Principal) &&
		(f.Tool == "" || g.Tool == f.Tool) &&
		(f.Live.IsZero() || g.live(f.Live))
}
