package gate

import (
	"context"

	"github.com/stopgate/stopgate"
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
	// Update does what Load does and hands the state to decide; then it appends the
	// facts of the change with [session.State.Append], keeps every changed cell and
	// the facts, and with them the change's rows: all of it durable before Update
	// returns, or none of it. A change without facts and rows writes nothing. An error of decide is returned as it is and changes nothing. decide
	// may be called again, on a fresh state, where another writer came first; it does
	// not call the store, and the state is its own only until it returns. The facts that
	// it returns are the caller's again when Update returns; what they point to, marks
	// and release, is not written to any more.
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
	// Rows are the audit rows of the decisions, for a store that is a journal
	// ([Capabilities]); other stores get none.
	Rows []*stopgate.Record
}
