package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/record/kepttext"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
)

// KeepTexts stores the texts of a change of a session's log within a transaction, as far as the
// setting for arguments keeps them; first is the number of the first.
func (r *Recorder) KeepTexts(ctx context.Context, tx pgx.Tx, log string, first uint64, texts [][]byte, at time.Time) error {
	list := kepttext.Of(texts, first, r.o.Arguments, r.o.Redactor)
	if len(list) == 0 {
		return nil
	}
	numbers, redacted, text := make([]int64, len(list)), make([]bool, len(list)), make([][]byte, len(list))
	for i, t := range list {
		numbers[i], redacted[i], text[i] = int64(t.Number), t.Redacted, t.Text
	}
	_, err := tx.Exec(ctx, "INSERT INTO record_texts(log, number, time, redacted, text) "+
		"SELECT $1, number, $2, redacted, text FROM unnest($3::bigint[], $4::boolean[], $5::bytea[]) AS n(number, redacted, text)",
		log, at.UnixMicro(), numbers, redacted, text)
	if err != nil {
		return fmt.Errorf("audit texts: %w", err)
	}
	return nil
}

// TextsOf returns the kept texts of a session's log.
func TextsOf(ctx context.Context, db *pgdb.DB, log string) (list []flow.KeptText, err error) {
	err = db.Read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT number, redacted, text FROM record_texts WHERE log = $1 ORDER BY number", log)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t flow.KeptText, err error) {
			var number int64
			err = row.Scan(&number, &t.Redacted, &t.Text)
			t.Number = uint64(number)
			return t, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read audit texts: %w", err)
	}
	return list, nil
}

const deleteTexts = "DELETE FROM record_texts WHERE time < $1 AND (log, number) IN " +
	"(SELECT log, number FROM record_texts WHERE time < $1 ORDER BY time LIMIT $2 FOR UPDATE SKIP LOCKED)"

// pruneTexts removes texts by their age. They are of no use without the rows that name them.
func (r *Recorder) pruneTexts(ctx context.Context, keep Retention) (int64, error) {
	before := keep.Arguments
	if keep.Rows.After(before) {
		before = keep.Rows
	}
	if before.IsZero() {
		return 0, nil
	}
	n, err := r.deleteAll(ctx, deleteTexts, before.UnixMicro())
	if err != nil {
		return n, fmt.Errorf("prune audit texts: %w", err)
	}
	return n, nil
}
