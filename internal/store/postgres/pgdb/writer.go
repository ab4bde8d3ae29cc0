package pgdb

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/internal/system/stack"
)

// Bounds of the queue and of the parts that share a transaction.
const (
	maxQueue = 256
	maxBatch = 256
)

const (
	// maxWait bounds how long a part without a deadline waits for the server.
	maxWait = 5 * time.Second
	// maxLocked bounds how long a part waits for rows that another gate has locked.
	maxLocked = 100 * time.Millisecond
	// noWaitFor is how long locks are not waited for after one was not released in time.
	noWaitFor = 500 * time.Millisecond
	// transactionTimeout bounds a transaction. After it the connection is closed.
	transactionTimeout = statementTimeout + statementTimeout/2
)

// entry is one queued part.
type entry struct {
	part   Part
	queued time.Time
	locked time.Time // since when it waits for the locks of other gates; zero if it does not
	state  atomic.Int32
	done   chan error // buffered

	// Of the writer, until done is answered.
	err      error
	panic    any
	answered bool
}

// States of an entry. A caller that stops waiting for an entry that is taken does not know whether
// it will be written.
const (
	waiting int32 = iota
	taken
	abandoned
)

// Do runs a part in the next transaction and returns when it is committed. It returns an error of the
// part unchanged, and panics in the caller's goroutine if the part panics.
//
// If ctx ends, Do stops waiting. The part has not been written if the error is ErrBusy; otherwise it
// may have been written or not.
func (db *DB) Do(ctx context.Context, part Part) error {
	if err := db.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	e := &entry{part: part, queued: time.Now(), done: make(chan error, 1)}
	select {
	case db.queue <- e:
	case <-db.closing:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrBusy, context.Cause(ctx))
	}
	select {
	case err := <-e.done:
		return e.answer(err)
	case <-db.ended:
		select {
		case err := <-e.done:
			return e.answer(err)
		default:
			return ErrClosed
		}
	case <-ctx.Done():
	}
	if e.state.Swap(abandoned) == waiting {
		return fmt.Errorf("%w: %w", ErrBusy, context.Cause(ctx))
	}
	return &UnknownError{context.Cause(ctx)}
}

func (e *entry) answer(err error) error {
	if e.panic != nil {
		panic(e.panic)
	}
	return err
}

// writer runs the transactions of parts.
type writer struct {
	db      *DB
	conn    *pgx.Conn // nil: none
	pending []*entry  // taken from the queue and not answered
	noWait  time.Time // locks are not waited for until then
	failed  int       // transactions in a row that failed for a passing reason
}

// run is the goroutine of the transactions.
func (w *writer) run() {
	stack.Grow()
	defer close(w.db.ended)
	defer w.retire()
	for w.gather() {
		w.transact(w.pending)
		w.settle()
	}
}

// gather waits for a part and takes all that wait. It reports false when the database is closed and
// nothing waits.
func (w *writer) gather() bool {
	db := w.db
	if len(w.pending) == 0 {
		select {
		case e := <-db.queue:
			w.pending = append(w.pending, e)
		case <-db.closing:
			select {
			case e := <-db.queue:
				w.pending = append(w.pending, e)
			default:
				return false
			}
		}
	}
	for len(w.pending) < maxBatch {
		select {
		case e := <-db.queue:
			w.pending = append(w.pending, e)
		default:
			return true
		}
	}
	return true
}

// settle drops the entries that were answered or abandoned, and waits a little before the others are
// run again.
func (w *writer) settle() {
	left := w.pending[:0]
	for _, e := range w.pending {
		if !e.answered && e.state.Load() != abandoned {
			left = append(left, e)
		}
	}
	clear(w.pending[len(left):])
	w.pending = left
	switch {
	case len(left) == 0:
		w.failed = 0
	case w.failed > 1:
		time.Sleep(min(time.Duration(w.failed)*2*time.Millisecond, 20*time.Millisecond))
	case w.failed == 0: // all that is left waits for locks
		time.Sleep(time.Millisecond)
	}
}

// reply answers an entry, once.
func (e *entry) reply(err error) {
	if !e.answered {
		e.answered = true
		e.done <- err
	}
}
