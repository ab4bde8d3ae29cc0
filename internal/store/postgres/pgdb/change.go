package pgdb

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
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
	for n := 1; ; n++ {
		err := db.once(ctx, o, f)
		again := err != nil && passing(err) && !isUnknown(err)
		if newer := db.newerSchema(err); newer != nil {
			return newer
		}
		if !again || n == attempts || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Duration(n*n) * 5 * time.Millisecond):
		}
	}
}

// once runs f in a transaction.
func (db *DB) once(ctx context.Context, o pgx.TxOptions, f func(tx pgx.Tx) error) error {
	if err := db.Err(); err != nil {
		return err
	}
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("postgres: connect to %s: %w", db.name, lost(ctx, err))
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
	if err := tx.Commit(ctx); err != nil {
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
