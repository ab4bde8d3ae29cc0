package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// objectionsKept is how long an objection is stored (S27).
const objectionsKept = 24 * time.Hour

// SaveObjection stores the opinion of a judge that objected to a call, so that every gate that shares
// the database gives the same answer to the same proposal. A stored objection can only refuse.
func (s *Store) SaveObjection(ctx context.Context, proposal [32]byte, probability float64, explanation string, at time.Time) error {
	err := s.db.Change(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM objections WHERE proposal IN (SELECT proposal FROM objections WHERE time < $1 ORDER BY time LIMIT $2 FOR UPDATE SKIP LOCKED)",
			at.Add(-objectionsKept).UnixMicro(), pruneStep); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO objections(proposal, probability, explanation, time) VALUES($1, $2, $3, $4) "+
			"ON CONFLICT(proposal) DO UPDATE SET probability = excluded.probability, explanation = excluded.explanation, time = excluded.time",
			proposal[:], probability, []byte(explanation), at.UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("store an objection: %w", err)
	}
	return nil
}

// Objection returns the stored opinion about a proposal and its time.
func (s *Store) Objection(ctx context.Context, proposal [32]byte) (probability float64, explanation string, at time.Time, found bool, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		found = false
		var text []byte
		var micro int64
		_, err := pgx.ForEachRow(rows, []any{&probability, &text, &micro}, func() error {
			explanation, at, found = string(text), time.UnixMicro(micro).UTC(), true
			return nil
		})
		return err
	}, "SELECT probability, explanation, time FROM objections WHERE proposal = $1", proposal[:])
	if err != nil {
		return 0, "", time.Time{}, false, fmt.Errorf("read an objection: %w", err)
	}
	return probability, explanation, at, found, nil
}
