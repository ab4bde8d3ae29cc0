package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/database"
)

// PutLogEntries stores entries of the gateway's response log. Entries hold arguments and are
// pruned with the arguments of the audit log.
func (s *Store) PutLogEntries(ctx context.Context, p stopgate.Principal, entries map[string][]byte) error {
	now := time.Now().UnixMilli()
	err := s.db.Change(ctx, func(tx *database.Tx) error {
		for key, entry := range entries {
			if _, err := tx.Exec("INSERT INTO ledger(principal, key, at, text) VALUES(?, ?, ?, ?) "+
				"ON CONFLICT(principal, key) DO UPDATE SET at = excluded.at, text = excluded.text", string(p), key, now, entry); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store entries of the response log: %w", err)
	}
	return nil
}

// LogEntry returns an entry of the gateway's response log, or nil if there is none.
func (s *Store) LogEntry(ctx context.Context, p stopgate.Principal, key string) (entry []byte, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		_, err := tx.Get([]any{&entry}, "SELECT text FROM ledger WHERE principal = ? AND key = ?", string(p), key)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read an entry of the response log: %w", err)
	}
	return entry, nil
}

// pruneResponseLog removes the entries written before a time.
func (s *Store) pruneResponseLog(ctx context.Context, before time.Time) (n int64, err error) {
	err = s.db.Change(ctx, func(tx *database.Tx) error {
		n, err = affected(tx, "DELETE FROM ledger WHERE at < ?", before.UnixMilli())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("prune the response log: %w", err)
	}
	return n, nil
}
