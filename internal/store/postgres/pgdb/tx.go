package pgdb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Part is the share of one caller in a transaction. Both methods may be called more than once, each
// time with another transaction; they must not block and must have no effect except on tx.
type Part interface {
	// Read announces the rows that the part needs.
	Read(tx *Tx)
	// Run decides on the rows and queues writes. After an error of a part that has not called
	// [Tx.MarkWritten], the other parts go on without it; [ErrLater] runs it again in the next
	// transaction.
	Run(tx *Tx) error
}

// Outcome is how a transaction ended.
type Outcome uint8

// The outcomes. The zero value is the one after which nothing is known.
const (
	Unknown Outcome = iota // the answer to the commit was lost
	Committed
	RolledBack
)

// Tx is a transaction of parts. One goroutine uses it: that of the transactions.
type Tx struct {
	// NoWait reports that waiting for a lock failed a moment ago: locks are to be taken with SKIP
	// LOCKED, so that a gate that is suspended does not stop the others.
	NoWait bool

	reads, writes pgx.Batch
	onRead        []func()
	onWrite       []func() error
	onEnd         []func(Outcome)
	values        map[any]any
	wrote         bool
	now           time.Time
}

// Value returns the value that SetValue stored in this transaction, or nil.
func (tx *Tx) Value(key any) any { return tx.values[key] }

// SetValue stores a value until the transaction ends, so that the parts that share the transaction
// read and write the same rows once.
func (tx *Tx) SetValue(key, value any) {
	if tx.values == nil {
		tx.values = map[any]any{}
	}
	tx.values[key] = value
}

// OnRead runs f once after all parts have announced their reads, to queue them by few statements.
func (tx *Tx) OnRead(f func()) { tx.onRead = append(tx.onRead, f) }

// QueueRead queues a statement of the first round trip. Statements run in their order, each sees
// what was committed before it began. They are prepared and cached, so queries must be constants.
func (tx *Tx) QueueRead(query string, args []any, scan func(pgx.Rows) error) {
	tx.reads.Queue(query, args...).Query(scan)
}

// OnWrite runs f once after all parts have run, to queue the writes of all of them. Its error fails
// the transaction.
func (tx *Tx) OnWrite(f func() error) { tx.onWrite = append(tx.onWrite, f) }

// Queue queues a statement of the second round trip, whose last one is the commit. If a statement
// fails, the transaction is rolled back, and the parts are run again one by one.
func (tx *Tx) Queue(query string, args ...any) {
	tx.wrote = true
	tx.writes.Queue(query, args...)
}

// MarkWritten marks a part whose rows are written by a function of [Tx.OnWrite]: if the part fails
// afterwards, the transaction is rolled back.
func (tx *Tx) MarkWritten() { tx.wrote = true }

// OnEnd runs f when the transaction has ended, before the next one begins.
func (tx *Tx) OnEnd(f func(Outcome)) { tx.onEnd = append(tx.onEnd, f) }

// Now returns the database's time after the locks were taken and the rows were read.
func (tx *Tx) Now() time.Time { return tx.now }

const (
	begin    = "begin isolation level read committed read write"
	commit   = "commit"
	rollback = "rollback"

	selectNow = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
)

// read is the first round trip.
func (tx *Tx) read(ctx context.Context, conn *pgx.Conn) error {
	for _, f := range tx.onRead {
		f()
	}
	var batch pgx.Batch
	batch.Queue(begin)
	batch.QueuedQueries = append(batch.QueuedQueries, tx.reads.QueuedQueries...)
	batch.Queue(selectNow).QueryRow(func(row pgx.Row) error {
		var micro int64
		err := row.Scan(&micro)
		tx.now = time.UnixMicro(micro).UTC()
		return err
	})
	return conn.SendBatch(ctx, &batch).Close()
}

// write is the second round trip.
func (tx *Tx) write(ctx context.Context, conn *pgx.Conn) error {
	tx.writes.Queue(commit)
	return conn.SendBatch(ctx, &tx.writes).Close()
}

func (tx *Tx) end(o Outcome) {
	for _, f := range tx.onEnd {
		f(o)
	}
}
