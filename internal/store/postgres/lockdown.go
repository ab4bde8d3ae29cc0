package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/gate"
)

var _ gate.Lockdowns = (*Store)(nil)

// Lockdown implements [gate.Lockdowns].
func (s *Store) Lockdown(ctx context.Context) (l gate.Lockdown, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		l, err = scanLockdown(rows)
		return err
	}, selectLockdown)
	if err != nil {
		return gate.Lockdown{}, fmt.Errorf("read the lockdown: %w", err)
	}
	return l, nil
}

// orderTimeout is how long an order waits for the releases that are being committed. A gate that is
// suspended holds the lock of its release for [pgdb.IdleTimeout].
const orderTimeout = "SET LOCAL lock_timeout = '3s'; SET LOCAL statement_timeout = '3s'"

// SetLockdown implements [gate.Lockdowns]. It waits for the releases that are being committed; those
// that begin later wait for it, and see the order.
func (s *Store) SetLockdown(ctx context.Context, l gate.Lockdown) error {
	err := s.db.Change(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Conn().PgConn().Exec(ctx, orderTimeout).ReadAll(); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(releaseLock)); err != nil {
			return err
		}
		if !l.Active() {
			_, err := tx.Exec(ctx, "DELETE FROM lockdown")
			if err != nil {
				return err
			}
		} else if _, err := tx.Exec(ctx, "INSERT INTO lockdown(since, author, reason) VALUES($1, $2, $3) "+
			"ON CONFLICT(one) DO UPDATE SET since = excluded.since, author = excluded.author, reason = excluded.reason",
			l.Since.UnixMicro(), []byte(l.By), []byte(l.Reason)); err != nil {
			return err
		}
		return s.db.Notify(ctx, tx, lockdown)
	})
	if err != nil {
		return fmt.Errorf("set the lockdown: %w", err)
	}
	return nil
}
