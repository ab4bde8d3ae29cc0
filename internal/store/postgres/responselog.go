package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate"
)

// PutLogEntries stores entries of the gateway's response log. Entries hold arguments and are
// pruned with the arguments of the audit log.
func (s *Store) PutLogEntries(ctx context.Context, p stopgate.Principal, entries map[string][]byte) error {
	type row struct{ id, text []byte }
	var rows []row
	for key, entry := range entries {
		rows = append(rows, row{idOf(ofEntry, string(p), key), append([]byte{}, entry...)})
	}
	// In one order, so that two gates that write the same entries do not lock each other out.
	slices.SortFunc(rows, func(a, b row) int { return bytes.Compare(a.id, b.id) })
	ids, texts := make([][]byte, len(rows)), make([][]byte, len(rows))
	for i, r := range rows {
		ids[i], texts[i] = r.id, r.text
	}
	err := s.db.Change(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO ledger(id, at, text) SELECT id, $1, text FROM unnest($2::bytea[], $3::bytea[]) AS n(id, text) "+
			"ON CONFLICT(id) DO UPDATE SET at = excluded.at, text = excluded.text", time.Now().UnixMilli(), ids, texts)
		return err
	})
	if err != nil {
		return fmt.Errorf("store entries of the response log: %w", err)
	}
	return nil
}

// LogEntry returns an entry of the gateway's response log, or nil if there is none.
func (s *Store) LogEntry(ctx context.Context, p stopgate.Principal, key string) (entry []byte, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		entry = nil
		_, err := pgx.ForEachRow(rows, []any{&entry}, func() error { return nil })
		return err
	}, "SELECT text FROM ledger WHERE id = $1", idOf(ofEntry, string(p), key))
	if err != nil {
		return nil, fmt.Errorf("read an entry of the response log: %w", err)
	}
	return entry, nil
}

// pruneResponseLog removes the entries written before a time.
func (s *Store) pruneResponseLog(ctx context.Context, before time.Time) (int64, error) {
	n, err := s.inSteps(ctx, "DELETE FROM ledger WHERE id IN (SELECT id FROM ledger WHERE at < $1 ORDER BY at LIMIT $2)", before.UnixMilli(), pruneStep)
	if err != nil {
		return n, fmt.Errorf("prune the response log: %w", err)
	}
	return n, nil
}
