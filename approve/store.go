package approve

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
)

// Store keeps entries and grants. It knows nothing of what they mean. Every change
// is atomic, also between processes that share the store, and durable before the
// method returns; an error means that nothing was changed, or that nobody can tell.
type Store interface {
	// AddEntry keeps a new entry. same decides whether one of those that are kept
	// with the same binding hash ("" never has company) stands for it: the first one,
	// newest first, is then returned instead and nothing is added. It is pure and
	// does not call the store.
	AddEntry(ctx context.Context, e Entry, same func(Entry) bool) (Entry, error)
	// Entry returns an entry, ErrUnknown if there is none.
	Entry(ctx context.Context, id string) (Entry, error)
	// Entries lists the entries that a filter lets through, newest first.
	Entries(ctx context.Context, f Filter) ([]Entry, error)
	// ChangeEntry hands an entry to change and keeps what it returns. change is pure,
	// does not call the store, and may be called again on the entry as it is then;
	// its error is returned as it is and changes nothing.
	ChangeEntry(ctx context.Context, id string, change func(Entry) (Entry, error)) (Entry, error)

	// AddGrant keeps a grant, Grants lists those that a filter lets through, newest
	// first, and ChangeGrant works as ChangeEntry does.
	AddGrant(ctx context.Context, g Grant) error
	Grants(ctx context.Context, f GrantFilter) ([]Grant, error)
	ChangeGrant(ctx context.Context, id string, change func(Grant) (Grant, error)) (Grant, error)

	// Attend notes that somebody reads the queue until a time; Attended returns the
	// latest time noted, zero if there is none. It need not be durable. A time that is
	// more than MaxAttendance before the latest one replaces it: that was noted before
	// the clock was set back.
	Attend(ctx context.Context, until time.Time) error
	Attended(ctx context.Context) (time.Time, error)

	// Prune forgets entries and grants that expired before a time, and says how many.
	Prune(ctx context.Context, before time.Time) (int, error)
}

// Filter chooses entries. A zero field lets everything through.
type Filter struct {
	State     State
	Proposal  stopgate.ProposalID
	Principal stopgate.Principal
	Session   stopgate.SessionID
	// Live leaves out what expired before this time.
	Live  time.Time
	Limit int
}

// Lets reports whether the filter lets an entry through.
func (f Filter) Lets(e Entry) bool {
	return (f.State == "" || e.State == f.State) &&
		(f.Proposal == "" || e.Proposal == f.Proposal) &&
		(f.Principal == "" || e.Principal == f.Principal) &&
		(f.Session == "" || e.Session == f.Session) &&
		(f.Live.IsZero() || f.Live.Before(e.Expires))
}

// GrantFilter chooses grants. A zero field lets everything through.
type GrantFilter struct {
	Principal stopgate.Principal
	Tool      stopgate.ToolName
	// Live leaves out what expired before this time, was revoked, or is used up.
	Live time.Time
}

// Lets reports whether the filter lets a grant through.
func (f GrantFilter) Lets(g Grant) bool {
	return (f.Principal == "" || g.Principal == f.Principal) &&
		(f.Tool == "" || g.Tool == f.Tool) &&
		(f.Live.IsZero() || g.live(f.Live))
}
