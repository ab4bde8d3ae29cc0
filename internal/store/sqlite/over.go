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

// bodyOf is a question as the file holds it: of one that is over what the records keep of
// arguments, and nothing more. Somebody who still has to answer sees all of it.
func (s *Store) bodyOf(e approve.Entry) ([]byte, error) {
	if e.Over() && !s.records.KeepsAll() {
		e = shorn(e, s.records.Kept)
	}
	return json.Marshal(e)
}

// shorn is a question with what a store keeps of its arguments.
func shorn(e approve.Entry, kept func([]byte) []byte) approve.Entry {
	e.Args, e.Edit, e.Leaves = string(kept([]byte(e.Args))), string(kept([]byte(e.Edit))), nil
	if e.Segment != nil {
		e.Segment = &stopgate.Segment{Index: e.Segment.Index, Of: e.Segment.Of}
	}
	return e
}

// someQuestions is how many questions lose their arguments in one change.
const someQuestions = 100

// forgetArguments takes the arguments out of questions that expired before a time.
func (s *Store) forgetArguments(ctx context.Context, before time.Time) error {
	for from, last, more := "", "", true; more; from = last {
		err := s.db.Change(ctx, func(tx *database.Tx) error {
			var old []approve.Entry
			err := list(tx, func(e approve.Entry) bool {
				old = append(old, e)
				return true
			}, "SELECT body FROM approvals WHERE expires < ? AND id > ? ORDER BY id LIMIT ?", before.UnixMicro(), from, someQuestions)
			if err != nil {
				return err
			}
			more = len(old) == someQuestions
			for _, e := range old {
				last = e.ID
				if e.Args == "" && e.Edit == "" && e.Leaves == nil {
					continue
				}
				body, err := json.Marshal(shorn(e, func([]byte) []byte { return nil }))
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
			return fmt.Errorf("forget arguments of questions: %w", err)
		}
	}
	return nil
}
