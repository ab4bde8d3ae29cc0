package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/database"
)

// Keep stores texts of the gateway's ledger. They hold arguments, and go when
// arguments go.
func (s *Store) Keep(ctx context.Context, p stopgate.Principal, texts map[string][]byte) error {
	now := time.Now().UnixMilli()
	err := s.db.Change(ctx, func(tx *database.Tx) error {
		for key, text := range texts {
			if _, err := tx.Exec("INSERT INTO ledger(principal, key, at, text) VALUES(?, ?, ?, ?) "+
				"ON CONFLICT(principal, key) DO UPDATE SET at = excluded.at, text = excluded.text", string(p), key, now, text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	return nil
}

// Find returns a text of the gateway's ledger, nil if there is none.
func (s *Store) Find(ctx context.Context, p stopgate.Principal, key string) (text []byte, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		_, err := tx.Get([]any{&text}, "SELECT text FROM ledger WHERE principal = ? AND key = ?", string(p), key)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find: %w", err)
	}
	return text, nil
}

// pruneLedger removes texts that are older than arguments may be.
func (s *Store) pruneLedger(ctx context.Context, before time.Time) (n int64, err error) {
	err = s.db.Change(ctx, func(tx *database.Tx) error {
		n, err = affected(tx, "DELETE FROM ledger WHERE at < ?", before.UnixMilli())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("prune the ledger: %w", err)
	}
	return n, nil
}
