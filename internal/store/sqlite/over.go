package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/store/database"
)

// bodyOf returns the stored form of a question. A question that is over contains only the arguments
// that the audit log may keep; one that still needs an answer contains all of them.
func (s *Store) bodyOf(e approve.Entry) ([]byte, error) {
	if e.Over() && !s.records.KeepsAll() {
		e = redacted(e, s.records.Kept)
	}
	return json.Marshal(e)
}

// redacted returns a question with redacted arguments.
func redacted(e approve.Entry, redact func([]byte) []byte) approve.Entry {
	e.Args, e.Edit, e.Leaves = string(redact([]byte(e.Args))), string(redact([]byte(e.Edit))), nil
	if e.Segment != nil {
		e.Segment = &stopgate.Segment{Index: e.Segment.Index, Of: e.Segment.Of}
	}
	return e
}

// redactStep is the number of questions that one change redacts.
const redactStep = 100

// removeArguments removes the arguments from questions that expired before a time.
func (s *Store) removeArguments(ctx context.Context, before time.Time) error {
	for from, last, more := "", "", true; more; from = last {
		err := s.db.Change(ctx, func(tx *database.Tx) error {
			var old []approve.Entry
			err := list(tx, func(e approve.Entry) bool {
				old = append(old, e)
				return true
			}, "SELECT body FROM approvals WHERE expires < ? AND id > ? ORDER BY id LIMIT ?", before.UnixMicro(), from, redactStep)
			if err != nil {
				return err
			}
			more = len(old) == redactStep
			for _, e := range old {
				last = e.ID
				if e.Args == "" && e.Edit == "" && e.Leaves == nil {
					continue
				}
				body, err := json.Marshal(redacted(e, func([]byte) []byte { return nil }))
				if err != nil {
					return err
				}
				if _, err := tx.Exec("UPDATE approvals SET body = ? WHERE id = ?", body, e.ID); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("remove arguments of questions: %w", err)
		}
	}
	return nil
}
