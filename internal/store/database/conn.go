package database

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/stopgate/stopgate/internal/system/stack"
)

// jitter spreads processes that wait for the same lock.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// conn is a connection with its prepared statements. One goroutine uses it.
type conn struct {
	*sql.Conn
	stmts map[string]*sql.Stmt
	rows  int // written by Insert
}

// stmt returns a prepared statement; preparing costs more than running most.
func (c *conn) stmt(query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	if c.stmts == nil {
		c.stmts = map[string]*sql.Stmt{}
	}
	c.stmts[query] = s
	return s, nil
}

func (c *conn) run(query string) error {
	s, err := c.stmt(query)
	if err == nil {
		_, err = s.ExecContext(context.Background())
	}
	return err
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	c.stmts = nil
	return errors.Join(append(errs, c.Conn.Close())...)
}

// Tx is the transaction of a change or a snapshot. Only the function that receives it may use it,
// on its own goroutine.
type Tx struct {
	c        *conn
	reads    bool // only
	wrote    bool
	values   map[any]any
	finally  []func() error
	onCommit []func()
}

// Exec runs a statement. Prepared statements are cached, so queries must be constants and varying
// values must be arguments.
func (tx *Tx) Exec(query string, args ...any) (sql.Result, error) {
	if tx.reads {
		return nil, errReads
	}
	s, err := tx.c.stmt(query)
	if err != nil {
		return nil, err
	}
	tx.wrote = true
	return s.ExecContext(context.Background(), args...)
}

// Query reads rows; the caller closes them before the next statement.
func (tx *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	s, err := tx.c.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(context.Background(), args...)
}

// Get reads one row into dest and reports whether there is one.
func (tx *Tx) Get(dest []any, query string, args ...any) (found bool, err error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := rows.Scan(dest...); err != nil {
		return false, err
	}
	return true, rows.Close()
}

// Value returns the value that SetValue stored in this transaction, or nil.
func (tx *Tx) Value(key any) any { return tx.values[key] }

// SetValue stores a value until the transaction ends, so that the changes that share the
// transaction need not read the same rows again.
func (tx *Tx) SetValue(key, value any) {
	if tx.values == nil {
		tx.values = map[any]any{}
	}
	tx.values[key] = value
}

// Finally runs f once after the last change that shares the transaction and before the commit, to
// write once the rows that many changes update. An error of f fails all of these changes.
func (tx *Tx) Finally(f func() error) { tx.finally = append(tx.finally, f) }

// OnCommit runs f once the transaction is durable, before this process begins another one.
func (tx *Tx) OnCommit(f func()) { tx.onCommit = append(tx.onCommit, f) }

// maxReaders bounds the idle connections that are kept for snapshots.
const maxReaders = 4

// pool caches reading connections with their statements.
type pool struct {
	db   *sql.DB
	free chan *conn
}

func (p *pool) take(ctx context.Context) (*conn, error) {
	select {
	case c := <-p.free:
		return c, nil
	default:
	}
	raw, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: raw}, nil
}

func (p *pool) give(c *conn) {
	select {
	case p.free <- c:
	default:
		c.close()
	}
}

func (p *pool) close() error {
	var errs []error
	for {
		select {
		case c := <-p.free:
			errs = append(errs, c.close())
		default:
			return errors.Join(append(errs, p.db.Close())...)
		}
	}
}

// errReads refuses to write in a snapshot.
var errReads = errors.New("a snapshot does not write")

// Snapshot runs f on a consistent state of the file. No writer waits for it. f must not write.
func (db *DB) Snapshot(ctx context.Context, f func(tx *Tx) error) error {
	return db.read(ctx, func(c *conn) error { return c.snapshot(ctx, f) })
}

// Get reads one row into dest and reports whether there is one. It is a snapshot of a single
// statement and needs no explicit transaction.
func (db *DB) Get(ctx context.Context, dest []any, query string, args ...any) (found bool, err error) {
	err = db.read(ctx, func(c *conn) error {
		return retryBusy(ctx, func() error {
			found, err = (&Tx{c: c, reads: true}).Get(dest, query, args...)
			return err
		})
	})
	return found, err
}

// read runs f on a connection that no other goroutine uses.
func (db *DB) read(ctx context.Context, f func(*conn) error) error {
	if err := db.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	stack.Grow()
	if db.snapshots.Add(1) <= writerSnapshots && db.writerMu.TryLock() {
		defer db.writerMu.Unlock()
		if db.conn != nil {
			err := f(db.conn)
			return cmp.Or(db.newerSchema(db.conn, err), err)
		}
	}
	c, err := db.readers.take(ctx)
	if err != nil {
		return err
	}
	reusable := false
	defer func() {
		if !reusable {
			c.close()
		}
	}()
	err = f(c)
	if code(err) == 0 {
		reusable = true
		db.readers.give(c)
	}
	return cmp.Or(db.newerSchema(c, err), err)
}

// writerSnapshots is the number of first snapshots that use the writer's connection if it is idle:
// for a process that handles one call, a second connection costs more than its reads.
const writerSnapshots = 8

func (c *conn) snapshot(ctx context.Context, f func(tx *Tx) error) error {
	return retryBusy(ctx, func() error {
		if err := c.run("BEGIN"); err != nil {
			return err
		}
		ended := false
		defer func() {
			if !ended { // f panicked
				_ = c.run("ROLLBACK")
			}
		}()
		err := f(&Tx{c: c, reads: true})
		ended = true
		if end := c.run("COMMIT"); end != nil {
			err = errors.Join(err, end, c.run("ROLLBACK"))
		}
		return err
	})
}
