package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/database"
)

var _ gate.Lockdowns = (*Store)(nil)

// Lockdown implements [gate.Lockdowns].
func (s *Store) Lockdown(ctx context.Context) (l gate.Lockdown, err error) {
	var since int64
	found, err := s.db.Get(ctx, []any{&since, &l.By, &l.Reason}, "SELECT since, author, reason FROM lockdown")
	switch {
	case err != nil:
		return gate.Lockdown{}, fmt.Errorf("read the lockdown: %w", err)
	case found:
		l.Since = time.UnixMicro(since).UTC()
	}
	return l, nil
}

// SetLockdown implements [gate.Lockdowns].
func (s *Store) SetLockdown(ctx context.Context, l gate.Lockdown) error {
	err := s.db.Change(ctx, func(tx *database.Tx) error {
		if !l.Active() {
			_, err := tx.Exec("DELETE FROM lockdown")
			return err
		}
		_, err := tx.Exec("INSERT INTO lockdown(one, since, author, reason) VALUES(1, ?, ?, ?) "+
			"ON CONFLICT(one) DO UPDATE SET since = excluded.since, author = excluded.author, reason = excluded.reason",
			l.Since.UnixMicro(), l.By, l.Reason)
		return err
	})
	if err != nil {
		return fmt.Errorf("set the lockdown: %w", err)
	}
	return nil
}
