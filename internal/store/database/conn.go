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
	rows  int // that Insert wrote
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

// Tx is the transaction that a change or a snapshot runs in. It belongs to the
// function it was given to and to the goroutine that runs it.
type Tx struct {
	c      *conn
	reads  bool // and nothing else
	wrote  bool
	values map[any]any
	last   []func() error
	after  []func()
}

// Exec runs a statement. Statements are prepared once and kept: queries are
// constants, and what varies is an argument.
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

// Value returns what Keep kept in this transaction, nil if nothing.
func (tx *Tx) Value(key any) any { return tx.values[key] }

// Keep remembers a value until the transaction ends, for the changes that share
// it: what the first has read the others need not read.
func (tx *Tx) Keep(key, value any) {
	if tx.values == nil {
		tx.values = map[any]any{}
	}
	tx.values[key] = value
}

// Finally runs f once behind the last change that shares the transaction, before it
// is made durable: what many changes would write again and again is written once.
// An error of f fails them all.
func (tx *Tx) Finally(f func() error) { tx.last = append(tx.last, f) }

// After runs f once the transaction is durable, before another one of this process begins.
func (tx *Tx) After(f func()) { tx.after = append(tx.after, f) }

// maxReaders bounds how many snapshots are read at once.
const maxReaders = 4

// pool keeps reading connections with their statements.
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

// Snapshot runs f on the state of one moment: what it reads fits together, and no
// writer waits for it. f must not write.
func (db *DB) Snapshot(ctx context.Context, f func(tx *Tx) error) error {
	return db.read(ctx, func(c *conn) error { return c.snapshot(ctx, f) })
}

// Get reads one row into dest and reports whether there is one: a snapshot of one
// statement, which needs no transaction around it.
func (db *DB) Get(ctx context.Context, dest []any, query string, args ...any) (found bool, err error) {
	err = db.read(ctx, func(c *conn) error {
		return patiently(ctx, func() error {
			found, err = (&Tx{c: c, reads: true}).Get(dest, query, args...)
			return err
		})
	})
	return found, err
}

// read runs f on a connection that nobody else uses.
func (db *DB) read(ctx context.Context, f func(*conn) error) error {
	if err := db.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	stack.Grow()
	if db.first.Add(1) <= fewSnapshots && db.idle.TryLock() {
		defer db.idle.Unlock()
		if db.conn != nil {
			err := f(db.conn)
			return cmp.Or(db.left(db.conn, err), err)
		}
	}
	c, err := db.readers.take(ctx)
	if err != nil {
		return err
	}
	good := false
	defer func() {
		if !good {
			c.close()
		}
	}()
	err = f(c)
	if code(err) == 0 {
		good = true
		db.readers.give(c)
	}
	return cmp.Or(db.left(c, err), err)
}

// fewSnapshots are read on the writer's connection, if it is idle: another one costs a
// process that lives for one call more than all that it reads.
const fewSnapshots = 8

func (c *conn) snapshot(ctx context.Context, f func(tx *Tx) error) error {
	return patiently(ctx, func() error {
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
