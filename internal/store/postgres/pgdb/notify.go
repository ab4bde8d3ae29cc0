package pgdb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Notify tells all gates, when the transaction is committed, that something has changed. It is a hint
// that wakes waiters earlier: notifications can be lost, and only the row is the truth.
func (db *DB) Notify(ctx context.Context, tx pgx.Tx, hint string) error {
	_, err := tx.Exec(ctx, "SELECT pg_notify($1, $2)", db.schema, hint)
	return err
}

// listenRetry is how long Listen waits before it connects again.
const listenRetry = time.Second

// Listen calls f with every hint until ctx ends, on a connection of its own. It calls f with "" whenever
// it has connected: hints may have been lost before.
func (db *DB) Listen(ctx context.Context, f func(hint string)) {
	for ctx.Err() == nil {
		db.listen(ctx, f)
		select {
		case <-ctx.Done():
		case <-db.closing:
			return
		case <-time.After(listenRetry):
		}
	}
}

func (db *DB) listen(ctx context.Context, f func(hint string)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-db.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	conn, err := pgx.ConnectConfig(ctx, db.config)
	if err != nil {
		return
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 100*time.Millisecond)
		defer cancel()
		_ = conn.Close(end)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+db.schema); err != nil {
		return
	}
	f("")
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return
		}
		f(n.Payload)
	}
}
