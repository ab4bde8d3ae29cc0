package gate

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/session"
)

// Store keeps the facts of sessions and their cells. It does not interpret them: package
// session does.
//
// Everything of one principal is one unit: updates of its sessions happen one
// after the other, as if there were no others (I19), across processes
// if the store is shared. After an error the change may or may not
// have been written; the gate then denies the calls that the state governs, and never
// continues with an empty session (FM2). A cell that the store does not have is the zero
// cell, also for an unknown owner.
type Store interface {
	// Load returns the cells of keys as of one position, in one consistent read.
	// Cells of scope OfPrincipal belong to the principal, all others to the session.
	Load(ctx context.Context, o session.Owner, keys []session.Key) (session.State, error)
	// Update loads the state as Load does and calls decide with it. Then it appends the
	// facts of the change with [session.State.Append] and stores the facts, the changed
	// cells and the change's rows: all of them durable before Update returns, or none.
	// A change without facts and rows is not written. An error of decide is returned
	// unchanged and rolls back. decide may be called again, with a fresh state, if
	// another writer came first; it must not call the store, nor keep the state. The
	// caller may reuse the returned facts after Update, but not their marks and release.
	Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (Change, error)) error
	// Facts returns up to limit facts of the session after a position, oldest first.
	Facts(ctx context.Context, o session.Owner, after uint64, limit int) ([]session.Fact, error)
	// Sessions lists sessions, the one with the newest fact first, of one principal or
	// of all ("").
	Sessions(ctx context.Context, principal stopgate.Principal, limit int) ([]session.Info, error)
	// Principals lists up to limit principals that have a session of this name, in the
	// order of their own names.
	Principals(ctx context.Context, id stopgate.SessionID, limit int) ([]stopgate.Principal, error)
	// Capabilities are read once, when the gate is made.
	Capabilities() Capabilities
}

// Change is the result of one update.
type Change struct {
	// Facts are to be appended; their Seq is set by the store.
	Facts []session.Fact
	// Releases reports that a call is released when the change is written: see
	// [Capabilities.Fleet].
	Releases bool
	// Rows are the audit rows of the decisions, for a store that is a journal
	// ([Capabilities]); other stores get none.
	Rows []*stopgate.Record
	// Texts, if not nil, changes the texts of the conversation TextsOf, for a store that
	// [Capabilities.JoinsTexts]; other stores get none. The errors of [flow.Store] for a log that
	// was changed, and one that is full, refuse the whole change.
	Texts   *flow.Change
	TextsOf flow.Conversation
}
