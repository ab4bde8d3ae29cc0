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

// Bounds of what waits and of what shares a transaction.
const (
	maxQueue = 256
	maxBatch = 256
)

// maxWait bounds how long the writer waits for another process when its callers
// set no earlier end.
const maxWait = 30 * time.Second

// entry is one change on its way.
type entry struct {
	f      func(tx *Tx) error
	likely []string
	state  atomic.Int32
	err    error
	panic  any
	done   chan error // buffered
}

// An entry is taken by the writer or given up by its caller, never both.
const (
	waiting = iota
	taken
	givenUp
)

// Change runs f in the next transaction and returns when what it wrote is on the
// disk. An error of f is returned as it is, and nothing of f remains; a panic of f
// is the caller's. f must not block and must have no effect but on tx: it may run
// more than once.
//
// The end of ctx gives up waiting: the change has then happened or not, unless the
// error says that it has not (errors.Is ErrBusy).
//
// The statements that f is likely to run can be named: those of a process's first change
// are prepared before other processes wait for it.
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
	if e.state.CompareAndSwap(waiting, givenUp) {
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

// Err is the *UntrustedError that closed Failed, nil while the file is trusted.
func (db *DB) Err() error {
	if u := db.untrusted.Load(); u != nil {
		return u
	}
	return nil
}

// run is the writing goroutine: one transaction and one sync for all that waits.
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
		db.callers, db.lasted = len(batch)+len(db.queue), time.Since(start)
		clear(batch)
	}
}

// maxGather bounds how long a change waits for others.
const maxGather = 500 * time.Microsecond

// gather lets callers that the transaction before has just released come back and
// join this one: as many as there were, for a fraction of what one more sync costs.
// A caller who is alone waits for nobody.
func (db *DB) gather() {
	patience := min(db.lasted/4, maxGather)
	for start, turns := time.Now(), 0; len(db.queue)+1 < min(db.callers, maxBatch) && time.Since(start) < patience; turns++ {
		if turns < 50 {
			runtime.Gosched()
		} else {
			time.Sleep(20 * time.Microsecond) // the callers may need this processor
		}
	}
}

// commit runs a batch in one transaction. If a change fails after it wrote, the
// others run again, each in a transaction of its own.
func (db *DB) commit(batch []*entry) {
	if spoiled := db.transact(batch); !spoiled {
		return
	}
	for i := range batch {
		db.transact(batch[i : i+1])
	}
}

// errSpoiled ends a transaction that a failed change has written to.
var errSpoiled = errors.New("a change failed after it wrote")

// transact runs entries in one transaction and answers them, unless several share
// it and one of them has spoiled it.
func (db *DB) transact(batch []*entry) (spoiled bool) {
	db.idle.Lock()
	defer db.idle.Unlock()
	defer db.turn.leave()
	err := db.begin(batch)
	if err == nil {
		if err = db.apply(batch); err == nil {
			err = db.conn.run("COMMIT")
		}
		if err != nil {
			db.rollback()
		} else {
			db.commits.Add(1)
			for _, f := range db.after {
				f()
			}
		}
		db.after = nil
	}
	if errors.Is(err, errSpoiled) {
		if len(batch) > 1 {
			return true
		}
		err = nil // the entry has the error
	}
	if err != nil && distrusted(err) {
		err = db.distrust(err)
	}
	for _, e := range batch {
		if left := db.left(db.conn, cmp.Or(e.err, err)); left != nil {
			e.err = left
		}
		if e.err != nil {
			e.done <- e.err
		} else {
			e.done <- err
		}
	}
	return false
}

// begin takes the write lock. It waits for other processes as long as a caller
// does.
func (db *DB) begin(batch []*entry) error {
	if err := db.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	if !db.began {
		db.began = true
		for _, query := range batch[0].likely {
			_, _ = db.conn.stmt(query) // what is wrong with it shows when it is needed
		}
	}
	db.turn.enter(ctx, func() bool { return wanted(batch) })
	err := patiently(ctx, func() error {
		err := db.conn.run("BEGIN IMMEDIATE")
		if err == nil {
			db.turn.mark()
		}
		if err != nil && busy(err) && !wanted(batch) {
			return nil // apply finds nobody; the transaction is not there, which rollback does not mind
		}
		return err
	})
	if damaged := db.intact(); damaged != nil {
		db.rollback()
		return db.distrust(damaged)
	}
	return err
}

// wanted reports whether somebody still waits for the batch.
func wanted(batch []*entry) bool {
	for _, e := range batch {
		if e.state.Load() != givenUp {
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
			db.commits.Add(1) // many changes may need longer than one who waits is patient
			before := tx.wrote
			tx.wrote = false
			if e.call(tx); e.err != nil && tx.wrote {
				return errSpoiled
			}
			tx.wrote = tx.wrote || before
		}
	}
	for _, f := range tx.last {
		if err := f(); err != nil {
			if len(batch) > 1 {
				return errSpoiled
			}
			return err
		}
	}
	db.after = tx.after
	return nil
}

// call runs one change and keeps its panic for its caller.
func (e *entry) call(tx *Tx) {
	defer func() {
		if v := recover(); v != nil {
			e.panic, e.err = v, fmt.Errorf("the change panicked: %v", v)
		}
	}()
	e.panic, e.err = nil, e.f(tx)
}

// rollback ends a transaction that may be over already: SQLite ends it itself
// after some errors.
func (db *DB) rollback() {
	_ = db.conn.run("ROLLBACK")
}

// distrust ends the use of the file: after a failed sync the kernel may show bytes
// that are not on the disk and never will be.
func (db *DB) distrust(cause error) error {
	u := &UntrustedError{Path: db.path, Err: cause}
	if db.untrusted.CompareAndSwap(nil, u) {
		close(db.failed)
	}
	return db.untrusted.Load()
}
