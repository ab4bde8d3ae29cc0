package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/record/kepttext"
	"github.com/stopgate/stopgate/internal/store/database"
)

// KeepTexts stores the texts of a change of a session's log within a transaction, as far as the
// setting for arguments keeps them; first is the number of the first.
func (r *Recorder) KeepTexts(tx *database.Tx, log string, first uint64, texts [][]byte, at time.Time) error {
	for _, t := range kepttext.Of(texts, first, r.o.Arguments, r.o.Redactor) {
		if _, err := tx.Exec("INSERT INTO audit_texts(log, number, time, redacted, text) VALUES(?, ?, ?, ?, ?)",
			log, int64(t.Number), at.UnixMicro(), t.Redacted, t.Text); err != nil {
			return fmt.Errorf("audit texts: %w", err)
		}
	}
	return nil
}

// TextsOf returns the kept texts of a session's log.
func TextsOf(ctx context.Context, db *database.DB, log string) (list []flow.KeptText, err error) {
	err = db.Snapshot(ctx, func(tx *database.Tx) error {
		list = nil
		rows, err := tx.Query("SELECT number, redacted, text FROM audit_texts WHERE log = ? ORDER BY number", log)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var t flow.KeptText
			if err := rows.Scan(&t.Number, &t.Redacted, &t.Text); err != nil {
				return err
			}
			list = append(list, t)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read audit texts: %w", err)
	}
	return list, nil
}

const (
	// oldTexts returns the end of the next step over old texts, deleteTexts deletes one step.
	oldTexts    = "SELECT max(rowid) FROM (SELECT rowid FROM audit_texts WHERE rowid > ? AND time < ? ORDER BY rowid LIMIT ?) HAVING count(*) > 0"
	deleteTexts = "DELETE FROM audit_texts WHERE rowid > ? AND rowid <= ? AND time < ?"
)
