package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
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
	for last, more := int64(0), true; more; {
		var from int64
		err := s.db.Change(ctx, func(tx pgx.Tx) error {
			from = last
			rows, err := tx.Query(ctx, "SELECT number, body FROM approvals WHERE expires < $1 AND number > $2 ORDER BY number LIMIT $3 FOR UPDATE", before.UnixMicro(), last, redactStep)
			if err != nil {
				return err
			}
			old := map[int64][]byte{}
			var number int64
			var body []byte
			if _, err := pgx.ForEachRow(rows, []any{&number, &body}, func() error {
				from, old[number] = number, body
				return nil
			}); err != nil {
				return err
			}
			more = len(old) == redactStep
			for number, body := range old {
				var e approve.Entry
				if err := json.Unmarshal(body, &e); err != nil {
					return err
				}
				if e.Args == "" && e.Edit == "" && e.Leaves == nil {
					continue
				}
				if body, err = json.Marshal(redacted(e, func([]byte) []byte { return nil })); err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, "UPDATE approvals SET body = $1 WHERE number = $2", body, number); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("remove arguments of questions: %w", err)
		}
		last = from
	}
	return nil
}
