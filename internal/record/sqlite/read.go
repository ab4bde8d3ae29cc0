package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/store/database"
)

// NewestTime returns the time of the last row, by the clock of its writer, or the zero time if there is
// none.
func NewestTime(ctx context.Context, db *database.DB) (at time.Time, err error) {
	var micro int64
	found, err := db.Get(ctx, []any{&micro}, "SELECT time FROM audit_rows ORDER BY seq DESC LIMIT 1")
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("read audit rows: %w", err)
	case found:
		at = time.UnixMicro(micro)
	}
	return at, nil
}

// Of returns the lines about one proposal, oldest first.
func Of(ctx context.Context, db *database.DB, id stopgate.ProposalID) (lines [][]byte, err error) {
	err = db.Snapshot(ctx, func(tx *database.Tx) error {
		lines = nil
		rows, err := queryRows(tx, nil, "SELECT seq, packed FROM (SELECT seq, packed FROM audit_rows WHERE final AND id = ?1 "+
			"UNION ALL SELECT seq, packed FROM audit_rows WHERE NOT final AND id = ?1) ORDER BY seq", string(id))
		for _, r := range rows {
			lines = append(lines, r.stored.Line(r.seq))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read audit rows: %w", err)
	}
	return lines, nil
}

// Head returns the end of the chain, for comparison with a copy kept elsewhere (S25).
func Head(ctx context.Context, db *database.DB) (head audit.Head, err error) {
	err = db.Snapshot(ctx, func(tx *database.Tx) error {
		var chain string
		if _, err := tx.Get([]any{&chain}, "SELECT id FROM audit_chain"); err != nil {
			return err
		}
		end, err := headOf(tx, chain)
		if err == nil {
			head = *end
		}
		return err
	})
	return head, err
}
