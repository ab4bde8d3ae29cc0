package pgdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// transact runs entries in one transaction. It answers those that are committed, failed or unknown;
// the others are run again.
func (w *writer) transact(batch []*entry) {
	if err := w.db.Err(); err != nil {
		answerAll(batch, err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), transactionTimeout)
	defer cancel()
	if err := w.connect(ctx); err != nil {
		w.retry(batch, err, passing(err))
		return
	}
	if apart := w.attempt(ctx, batch); apart {
		for i := range batch {
			w.alone(batch[i : i+1])
		}
	}
}

// alone runs one entry, after it failed together with others.
func (w *writer) alone(one []*entry) {
	ctx, cancel := context.WithTimeout(context.Background(), transactionTimeout)
	defer cancel()
	if one[0].answered {
		return
	}
	if err := w.connect(ctx); err != nil {
		w.retry(one, err, passing(err))
		return
	}
	w.attempt(ctx, one)
}

// connect opens the connection if there is none.
func (w *writer) connect(ctx context.Context) error {
	if w.conn != nil && !w.conn.IsClosed() {
		return nil
	}
	w.disconnect()
	conn, err := pgx.ConnectConfig(ctx, w.db.config)
	if err != nil {
		return fmt.Errorf("postgres: connect to %s: %w", w.db.name, err)
	}
	w.conn = conn
	for _, f := range append([]func(context.Context, *pgx.Conn) error{durable, indexed}, w.db.onConnect...) {
		if err := f(ctx, conn); err != nil {
			if conn.IsClosed() {
				err = lost(ctx, err)
			}
			w.disconnect()
			return fmt.Errorf("postgres: connect to %s: %w", w.db.name, err)
		}
	}
	return nil
}

// retireTime is how long a process that ends waits for the server to release its locks.
const retireTime = time.Second

// retire gives back the locks of the session, so that the next process has them at once: the server ends
// a connection some time after its client has.
func (w *writer) retire() {
	if w.conn != nil && !w.conn.IsClosed() {
		ctx, cancel := context.WithTimeout(context.Background(), retireTime)
		defer cancel()
		_, _ = w.conn.Exec(ctx, "SELECT pg_advisory_unlock_all()") // they end with the connection otherwise
	}
	w.disconnect()
}

// disconnect drops the connection, without waiting for a server that does not answer.
func (w *writer) disconnect() {
	if w.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_ = w.conn.Close(ctx) // the server rolls back what was not committed
	w.db.warned.Delete(w.conn.PgConn())
	w.conn = nil
}

// attempt runs entries once. It reports apart if they have to be run one by one: one of several
// has failed all of them.
func (w *writer) attempt(ctx context.Context, batch []*entry) (apart bool) {
	tx := &Tx{NoWait: time.Now().Before(w.noWait)}
	err := tx.announce(batch)
	if err == nil {
		err = tx.read(ctx, w.conn)
	}
	if err != nil {
		w.rollback(ctx)
		tx.end(RolledBack)
		return w.failure(batch, err)
	}
	if partly := tx.run(batch); partly {
		w.rollback(ctx)
		tx.end(RolledBack)
		return w.failure(batch, errPartlyWritten)
	}
	if tx.writes.Len() == 0 {
		w.rollback(ctx)
		tx.end(RolledBack)
		answerTaken(batch, nil)
		return false
	}
	w.db.warned.Delete(w.conn.PgConn())
	if err = tx.write(ctx, w.conn); err == nil {
		err = w.db.committed(w.conn)
	}
	var unsent pgx.ErrPreprocessingBatch
	switch {
	case err == nil:
		w.failed = 0
		w.db.commits.Add(1)
		tx.end(Committed)
		answerTaken(batch, nil)
	case refused(err) || errors.As(err, &unsent):
		w.rollback(ctx)
		tx.end(RolledBack)
		return w.failure(batch, err)
	default:
		w.disconnect()
		tx.end(Unknown)
		answerTaken(batch, &UnknownError{err})
	}
	return false
}

// rollback ends the transaction and keeps the connection if that succeeds.
func (w *writer) rollback(ctx context.Context) {
	if w.conn.IsClosed() || w.conn.PgConn().TxStatus() == 'I' {
		return
	}
	if _, err := w.conn.Exec(ctx, rollback); err != nil {
		w.disconnect()
	}
}

// errPartlyWritten ends a transaction in which a part wrote and then failed.
var errPartlyWritten = errors.New("postgres: a part failed after it wrote")

// announce announces the reads of all parts.
func (tx *Tx) announce(batch []*entry) (err error) {
	for _, e := range batch {
		if e.answered || e.state.Load() == abandoned {
			continue
		}
		if err := e.protect(func() error { e.part.Read(tx); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// run runs the parts one after the other. It reports whether one wrote and then failed.
func (tx *Tx) run(batch []*entry) (partly bool) {
	for _, e := range batch {
		if e.answered || !e.state.CompareAndSwap(waiting, taken) {
			continue
		}
		tx.wrote = false
		e.err = e.protect(func() error { return e.part.Run(tx) })
		switch {
		case e.err != nil && tx.wrote:
			return true
		case errors.Is(e.err, ErrLater):
			e.later()
		}
	}
	for _, f := range tx.onWrite {
		if err := f(); err != nil {
			if len(batch) == 1 {
				batch[0].err = err
			}
			return true
		}
	}
	return false
}

// protect runs a method of the part and keeps its panic for the caller.
func (e *entry) protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			e.panic, err = v, fmt.Errorf("postgres: the change panicked: %v", v)
		}
	}()
	e.panic = nil
	return f()
}

// later lets an entry wait for the next transaction, unless it has waited for locks for too long.
func (e *entry) later() {
	now := time.Now()
	if e.locked.IsZero() {
		e.locked = now
	}
	if now.Sub(e.locked) >= maxLocked {
		e.reply(fmt.Errorf("%w: another gate holds the locks of the principal", ErrBusy))
		return
	}
	e.release()
}

// release lets an entry wait again; it is not written.
func (e *entry) release() { e.state.CompareAndSwap(taken, waiting) }

// failure answers a transaction that was rolled back, or leaves its entries to the next one.
func (w *writer) failure(batch []*entry, err error) (apart bool) {
	lost := w.conn == nil || w.conn.IsClosed()
	switch state := StateOf(err); {
	case state == lockNotAvailable:
		w.noWait = time.Now().Add(noWaitFor)
		releaseAll(batch)
	case lost || passing(err):
		w.retry(batch, err, true)
	default:
		if newer := w.db.newerSchema(err); newer != nil {
			answerAll(batch, newer)
			return false
		}
		releaseAll(batch)
		if len(batch) > 1 {
			return true
		}
		if e := batch[0]; e.err != nil && errors.Is(err, errPartlyWritten) {
			err = e.err
		}
		answerAll(batch, err)
	}
	return false
}

// retry leaves the entries to the next transaction, unless they have waited for too long or the
// error is one that stays.
func (w *writer) retry(batch []*entry, err error, passing bool) {
	w.failed++
	for _, e := range batch {
		e.release()
		if !passing || time.Since(e.queued) >= maxWait {
			e.reply(err)
		}
	}
}

func releaseAll(batch []*entry) {
	for _, e := range batch {
		e.release()
	}
}

// answerTaken answers the entries that were run: with their own error, or that of the transaction.
func answerTaken(batch []*entry, err error) {
	for _, e := range batch {
		switch {
		case e.state.Load() == waiting: // it waits for locks
		case e.err != nil && err == nil:
			e.reply(e.err)
		default:
			e.reply(err)
		}
	}
}

func answerAll(batch []*entry, err error) {
	for _, e := range batch {
		e.reply(err)
	}
}
