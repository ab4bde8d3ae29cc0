package gate

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// Capabilities describe the optional operations and guarantees of a [Recorder] or a [Store].
// With the zero Capabilities every call is made on a goroutine of its own, under the deadline
// of [Limits], one row at a time.
type Capabilities struct {
	// Progress is set by a store or recorder that several writers share.
	Progress Progress

	// InMemory, of a store: its calls return at once and are made on the goroutine of the
	// caller, without a deadline.
	InMemory bool
	// Fleet, of a store: gates on several machines share it. Its states have the time of the
	// store, and it refuses a change that [Change.Releases] with a [LockdownError] while it has an
	// order of [Lockdowns]: when SetLockdown has returned, no release that had not seen the order
	// is committed. No call is released while such a store does not answer, and its denials have
	// the code store_unavailable.
	Fleet bool
	// Clock, of a store of a fleet, returns about the time that its states have: that of records and
	// questions, unless [WithClock] sets another. nil: the clock of the machine.
	Clock func() time.Time
	// Texts, of a store, keeps the texts of sessions; nil if it keeps none. They are then lost
	// with the process.
	Texts flow.Store
	// JoinsTexts, of a store with Texts: it writes [Change.Texts] with the facts of a change. A call is
	// then released and added to the texts of its session in one step.
	JoinsTexts bool
	// Journal, of a store, reports whether the rows of a recorder are kept in the store's
	// database: a decision and its facts are then written in one transaction (S25). nil
	// where they are not.
	Journal func(Recorder) bool

	// Punctual, of a recorder: its calls wait only for a goroutine of its own and return
	// when their context ends, whatever the disk does. They are made on the goroutine of
	// the caller.
	Punctual bool
	// KeepsArguments, of a recorder: it stores arguments with the rows, which have only
	// their hash (S13). Its rows come with [stopgate.Record.Args].
	KeepsArguments bool
	// RecordAll, of a recorder, is Record for several rows in their order. An error means of
	// each of them that it may or may not have been written. nil where one row at a time is
	// as fast; see [Gate.ResolveAll].
	RecordAll func(ctx context.Context, rows []*stopgate.Record) error
	// Spool, of a recorder, keeps rows durably that cannot be written now, and writes them
	// as soon as they can be. Rows that permit a call are never spooled. It returns after
	// the rows are durable; after an error none of them is. Spooled reports whether spooled
	// rows wait to be written. Both are nil for a recorder without a spool.
	Spool   func(rows []*stopgate.Record) error
	Spooled func() bool
}

// Progress describes a port that several writers share. While other writes succeed, the gate
// waits for a call of the port until the deadline of its caller, so that load alone denies no
// call. If no write succeeds for [Limits.Store], the port is unavailable, and the call is
// denied (FM2, FM4). Calls of such a port return when their context ends.
type Progress struct {
	// Advanced returns a number that changes whenever something was written, by this
	// process or another. It is cheap and does not block. nil: the port is not shared.
	Advanced func() uint64
	// Share returns the part of a processor that a thread of this machine gets now, 1 for
	// all of it. A writer that gets no processor for a while is not stuck: the time without
	// progress is stretched accordingly. nil: writers run elsewhere.
	Share func() float64
	// Limit is the longest time without progress, if it is shorter than [Limits.Store].
	Limit time.Duration
}

// limit returns the longest time without progress.
func (p *Progress) limit(l Limits) time.Duration {
	if p.Limit > 0 {
		return min(p.Limit, l.Store)
	}
	return l.Store
}
