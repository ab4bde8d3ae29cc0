// Package backend has the port of a store for all data of a gate: facts, questions and grants,
// records, the order to deny everything, conversations of the terminal agent, responses of the
// gateway and objections of judges. Commands and hooks access stores only through this port.
//
//	var s backend.Store // opened by package internal/store/kinds
//	g, err := gate.New(program, gate.WithStore(s), gate.WithRecorder(s.Recorder()))
//	gone, err := s.Retain(ctx, backend.Retention{Rows: monthAgo}, time.Now())
//
// The suites storetest, approvals and talks of internal/testkit specify the behaviour of a store.
package backend

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/store/fleet"
)

// State is the part of a store that can also be in the memory of one process. It is safe for
// concurrent use.
type State interface {
	gate.Store
	gate.Lockdowns
	approve.Store
	conversation.Store
}

// Store is an open store. Several processes may have the same one open.
type Store interface {
	State
	Responses
	Objections
	fleet.Store

	// Recorder writes records to the store.
	Recorder() Recorder
	// Newest returns the time of the newest record, zero if there is none.
	Newest(ctx context.Context) (time.Time, error)
	// Retain removes data older than keep: rows and arguments of records; kept texts of sessions,
	// conversations, responses and the arguments of questions by the age of arguments; facts, approvals and
	// sessions with their texts by the age of rows.
	Retain(ctx context.Context, keep Retention, now time.Time) (Pruned, error)

	// Convert writes the records of an earlier version in the form of this one, in steps that no caller waits for long, and
	// calls progress with the number of rows that are left. They are read in both forms.
	Convert(ctx context.Context, progress func(left int64)) error

	// Failed is closed when the store is no longer trusted, and Err returns the reason; every
	// later call is denied (FM4).
	Failed() <-chan struct{}
	Err() error
	// Close writes the queued changes and closes the store.
	Close() error
}

// Recorder writes records to a store.
type Recorder interface {
	gate.Recorder
	// Cancel records as cancelled the proposals with a question from before a time and without
	// a decision: their process died. It returns how many there were.
	Cancel(ctx context.Context, before, now time.Time) (int, error)
}

// Responses keeps entries of the responses that a gateway gave, by principal.
type Responses interface {
	PutLogEntries(ctx context.Context, p stopgate.Principal, entries map[string][]byte) error
	LogEntry(ctx context.Context, p stopgate.Principal, key string) ([]byte, error)
}

// Keys keeps secrets for all gates that share a store on a server. Other stores have a file next to
// them.
type Keys interface {
	// Key returns the secret of a name; it is fresh if there was none.
	Key(ctx context.Context, name string, fresh []byte) ([]byte, error)
}

// Objections keeps the objections of judges, by the hash of the proposal.
type Objections interface {
	SaveObjection(ctx context.Context, proposal [32]byte, probability float64, explanation string, at time.Time) error
	Objection(ctx context.Context, proposal [32]byte) (probability float64, explanation string, at time.Time, found bool, err error)
}

// Options configure a store. The zero Options keep no arguments.
type Options struct {
	// Arguments selects how records hold the arguments of calls, and the store the texts of sessions
	// that a policy keeps for replay.
	Arguments audit.Keep
	// Redactor removes values for audit.KeepRedacted; nil removes the well-known forms of
	// secrets.
	Redactor *audit.Redactor
	// Gate is the name of the gate that opens the store, for a store of several gates.
	Gate string
	// Local begins the names of files on this machine that belong to a store on a server.
	Local string
}

// Retention is the time of the oldest rows and arguments to keep. A zero time keeps all.
type Retention struct {
	Rows      time.Time
	Arguments time.Time
}

// Pruned counts the items that [Store.Retain] removed.
type Pruned struct {
	Rows      int64 `json:"rows"`
	Arguments int64 `json:"arguments"`
	Facts     int64 `json:"facts"`
	Sessions  int64 `json:"sessions"`
	Approvals int64 `json:"approvals"`
	// Conversations of the terminal agent. They hold arguments and are pruned with them.
	Conversations int64 `json:"conversations"`
	Responses     int64 `json:"ledger"` // entries of the gateway's response log, likewise
	Texts         int64 `json:"texts"`  // conversations of which there were texts
	KeptTexts     int64 `json:"kept_texts"`
}
