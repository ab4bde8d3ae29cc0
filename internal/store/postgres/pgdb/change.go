package pgdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Read runs f on a consistent state of the database. f must not write.
func (db *DB) Read(ctx context.Context, f func(tx pgx.Tx) error) error {
	return db.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
}

// Change runs f in a transaction of its own, for rare changes. It is run again after conflicts with
// other transactions and lost connections, unless the commit was sent.
func (db *DB) Change(ctx context.Context, f func(tx pgx.Tx) error) error {
	return db.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, f)
}

// attempts bounds how often a rare transaction is tried.
const attempts = 6

func (db *DB) transaction(ctx context.Context, o pgx.TxOptions, f func(tx pgx.Tx) error) error {
	return db.again(ctx, func() error { return db.once(ctx, o, f) })
}

// again runs f until it succeeds or fails for a reason that stays.
func (db *DB) again(ctx context.Context, f func() error) error {
	for n := 1; ; n++ {
		err := f()
		if err == nil {
			return nil
		}
		if newer := db.newerSchema(err); newer != nil {
			return newer
		}
		if !passing(err) || isUnknown(err) || n == attempts || ctx.Err() != nil {
			return err
		}
		if errors.Is(err, errLost) {
			db.pool.Reset() // the other connections are lost, too
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Duration(n*n) * 5 * time.Millisecond):
		}
	}
}

// acquire takes a connection for reads and rare changes.
func (db *DB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if err := db.Err(); err != nil {
		return nil, err
	}
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("postgres: connect to %s: %w", db.name, lost(ctx, err))
	}
	return conn, nil
}

// once runs f in a transaction.
func (db *DB) once(ctx context.Context, o pgx.TxOptions, f func(tx pgx.Tx) error) error {
	conn, err := db.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	tx, err := conn.BeginTx(ctx, o)
	if err != nil {
		return lost(ctx, err)
	}
	if err := f(tx); err != nil {
		ended := conn.Conn().IsClosed()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout)
		defer cancel()
		_ = tx.Rollback(end) // a connection whose transaction cannot be rolled back is closed
		if ended {
			return lost(ctx, err)
		}
		return err
	}
	db.warned.Delete(conn.Conn().PgConn())
	err = tx.Commit(ctx)
	if err == nil {
		err = db.committed(conn.Conn())
	}
	if err != nil {
		if o.AccessMode == pgx.ReadOnly || refused(err) {
			return lost(ctx, err)
		}
		return &UnknownError{err}
	}
	if o.AccessMode != pgx.ReadOnly {
		db.commits.Add(1)
	}
	return nil
}

// Query runs one statement that reads, and scan on its rows. Both are run again after a lost
// connection.
func (db *DB) Query(ctx context.Context, scan func(pgx.Rows) error, query string, args ...any) error {
	return db.again(ctx, func() error {
		conn, err := db.acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		rows, err := conn.Query(ctx, query, args...)
		if err == nil {
			defer rows.Close()
			err = scan(rows)
		}
		if err != nil && conn.Conn().IsClosed() {
			return lost(ctx, err)
		}
		return err
	})
}
