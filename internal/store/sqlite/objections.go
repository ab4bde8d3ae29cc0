package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/store/database"
)

// objectionTable is the table of calls that judges objected to. Times are Unix microseconds.
var objectionTable = database.Component{Name: "objections", Migrations: []string{`
CREATE TABLE objections(
	proposal BLOB PRIMARY KEY,
	probability REAL NOT NULL,
	explanation TEXT NOT NULL,
	time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`}}

// objectionsKept is how long an objection is stored (S27).
const objectionsKept = 24 * time.Hour

// SaveObjection stores the opinion of a judge that objected to a call, so that every process that
// shares the file gives the same answer to the same proposal. A stored objection can only refuse.
func (s *Store) SaveObjection(ctx context.Context, proposal [32]byte, probability float64, explanation string, at time.Time) error {
	err := s.db.Change(ctx, func(tx *database.Tx) error {
		if _, err := tx.Exec("DELETE FROM objections WHERE time < ?", at.Add(-objectionsKept).UnixMicro()); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT INTO objections(proposal, probability, explanation, time) VALUES(?, ?, ?, ?) "+
			"ON CONFLICT(proposal) DO UPDATE SET probability = excluded.probability, explanation = excluded.explanation, time = excluded.time",
			proposal[:], probability, explanation, at.UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("store an objection: %w", err)
	}
	return nil
}

// Objection returns the stored opinion about a proposal and its time.
func (s *Store) Objection(ctx context.Context, proposal [32]byte) (probability float64, explanation string, at time.Time, found bool, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) (err error) {
		var micro int64
		found, err = tx.Get([]any{&probability, &explanation, &micro}, "SELECT probability, explanation, time FROM objections WHERE proposal = ?", proposal[:])
		at = time.UnixMicro(micro).UTC()
		return err
	})
	if err != nil {
		return 0, "", time.Time{}, false, fmt.Errorf("read an objection: %w", err)
	}
	return probability, explanation, at, found, nil
}
