package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/internal/system/stack"
)

// Bounds of the queue and of the changes that share a transaction.
const (
	maxQueue = 256
	maxBatch = 256
)

// maxWait bounds how long the writer waits for another process.
const maxWait = 30 * time.Second

// entry is one queued change.
type entry struct {
	f      func(tx *Tx) error
	likely []string
	state  atomic.Int32
	err    error
	panic  any
	done   chan error // buffered
}

// States of an entry: either the writer takes it or its caller abandons it.
const (
	waiting = iota
	taken
	abandoned
)

// Change runs f in the next transaction and returns when its writes are on the disk. It returns an
// error of f unchanged, after rolling f back, and panics in the caller's goroutine if f panics. f
// must not block and must have no effect except on tx: it may run more than once.
//
// If ctx ends, Change stops waiting. The change has not happened if the error is ErrBusy; otherwise
// it may have happened or not.
//
// likely names statements that f probably runs. Those of a process's first change are prepared
// before the write lock is taken.
func (db *DB) Change(ctx context.Context, f func(tx *Tx) error, likely ...string) error {
	if err := db.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	e := &entry{f: f, likely: likely, done: make(chan error, 1)}
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
	if e.state.CompareAndSwap(waiting, abandoned) {
		return fmt.Errorf("%w: %w", ErrBusy, context.Cause(ctx))
	}
	return fmt.Errorf("the change may or may not be written: %w", context.Cause(ctx))
}

func (e *entry) answer(err error) error {
	if e.panic != nil {
		panic(e.panic)
	}
	return err
}

// Err returns the *UntrustedError that closed Failed, or nil while the file is trusted.
func (db *DB) Err() error {
	if u := db.untrusted.Load(); u != nil {
		return u
	}
	return nil
}

// run is the writing goroutine: it commits all queued changes with one transaction and one sync.
func (db *DB) run() {
	stack.Grow()
	defer close(db.ended)
	defer func() { db.closed = db.disconnect() }()
	var batch []*entry
	for {
		select {
		case e := <-db.queue:
			batch = append(batch[:0], e)
		case <-db.closing:
			select {
			case e := <-db.queue:
				batch = append(batch[:0], e)
			default:
				return
			}
		}
		db.gather()
		for len(db.queue) > 0 && len(batch) < maxBatch {
			batch = append(batch, <-db.queue)
		}
		start := time.Now()
		db.commit(batch)
		db.callers, db.lastCommit = len(batch)+len(db.queue), time.Since(start)
		clear(batch)
	}
}

// maxGather bounds how long a change waits for other changes.
const maxGather = 500 * time.Microsecond

// gather waits until the callers that the previous transaction released have queued their next
// changes, for at most a quarter of the duration of a commit. A single caller does not wait.
func (db *DB) gather() {
	limit := min(db.lastCommit/4, maxGather)
	for start, tries := time.Now(), 0; len(db.queue)+1 < min(db.callers, maxBatch) && time.Since(start) < limit; tries++ {
		if tries < 50 {
			runtime.Gosched()
		} else {
			time.Sleep(20 * time.Microsecond) // the callers may need this processor
		}
	}
}

// commit runs a batch in one transaction. If a change fails after it wrote, the others run again,
// each in its own transaction.
func (db *DB) commit(batch []*entry) {
	if rerun := db.transact(batch); !rerun {
		return
	}
	for i := range batch {
		db.transact(batch[i : i+1])
	}
}

// errPartlyWritten ends a transaction in which a change wrote and then failed.
var errPartlyWritten = errors.New("a change failed after it wrote")

// transact runs entries in one transaction and answers them. It reports rerun, without answering,
// if one of several entries wrote and then failed.
func (db *DB) transact(batch []*entry) (rerun bool) {
	db.writerMu.Lock()
	defer db.writerMu.Unlock()
	defer db.lock.release()
	err := db.begin(batch)
	if err == nil {
		if err = db.apply(batch); err == nil {
			err = db.conn.run("COMMIT")
		}
		if err != nil {
			db.rollback()
		} else {
			db.commits.Add(1)
			for _, f := range db.onCommit {
				f()
			}
		}
		db.onCommit = nil
	}
	if errors.Is(err, errPartlyWritten) {
		if len(batch) > 1 {
			return true
		}
		err = nil // the entry has the error
	}
	if err != nil && distrusted(err) {
		err = db.distrust(err)
	}
	for _, e := range batch {
		if newer := db.newerSchema(db.conn, cmp.Or(e.err, err)); newer != nil {
			e.err = newer
		}
		if e.err != nil {
			e.done <- e.err
		} else {
			e.done <- err
		}
	}
	return false
}

// begin takes the write lock. It waits for other processes as long as a caller does.
func (db *DB) begin(batch []*entry) error {
	if err := db.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	if !db.started {
		db.started = true
		for _, query := range batch[0].likely {
			_, _ = db.conn.stmt(query) // a wrong statement fails when it runs
		}
	}
	db.lock.acquire(ctx, func() bool { return hasCaller(batch) })
	err := retryBusy(ctx, func() error {
		err := db.conn.run("BEGIN IMMEDIATE")
		if err == nil {
			db.lock.touch()
		}
		if err != nil && busy(err) && !hasCaller(batch) {
			return nil // apply finds no caller, and rollback ignores a missing transaction
		}
		return err
	})
	if damaged := db.intact(); damaged != nil {
		db.rollback()
		return db.distrust(damaged)
	}
	return err
}

// hasCaller reports whether any caller still waits for the batch.
func hasCaller(batch []*entry) bool {
	for _, e := range batch {
		if e.state.Load() != abandoned {
			return true
		}
	}
	return false
}

// apply runs the changes one after the other.
func (db *DB) apply(batch []*entry) error {
	tx := &Tx{c: db.conn}
	for _, e := range batch {
		if e.state.Load() == taken || e.state.CompareAndSwap(waiting, taken) {
			db.commits.Add(1) // so that other processes see progress during a long batch
			before := tx.wrote
			tx.wrote = false
			if e.call(tx); e.err != nil && tx.wrote {
				return errPartlyWritten
			}
			tx.wrote = tx.wrote || before
		}
	}
	for _, f := range tx.finally {
		if err := f(); err != nil {
			if len(batch) > 1 {
				return errPartlyWritten
			}
			return err
		}
	}
	db.onCommit = tx.onCommit
	return nil
}

// call runs one change and stores its panic for its caller.
func (e *entry) call(tx *Tx) {
	defer func() {
		if v := recover(); v != nil {
			e.panic, e.err = v, fmt.Errorf("the change panicked: %v", v)
		}
	}()
	e.panic, e.err = nil, e.f(tx)
}

// rollback ends the transaction. It ignores the error if SQLite has already ended it, as it does
// after some errors.
func (db *DB) rollback() {
	_ = db.conn.run("ROLLBACK")
}

// distrust ends the use of the file. After a failed sync the kernel may return bytes that are not
// on the disk and never will be.
func (db *DB) distrust(cause error) error {
	u := &UntrustedError{Path: db.path, Err: cause}
	if db.untrusted.CompareAndSwap(nil, u) {
		close(db.failed)
	}
	return db.untrusted.Load()
}
