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
		rows, err := queryRows(tx, nil, "SELECT seq, stored FROM (SELECT seq, stored FROM audit_rows WHERE final AND id = ?1 "+
			"UNION ALL SELECT seq, stored FROM audit_rows WHERE NOT final AND id = ?1) ORDER BY seq", string(id))
		names := new(Names).In(tx)
		lines = nil
		for _, r := range rows {
			r.expand(names)
			lines = append(lines, r.line)
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
		end, err := headOf(tx, chain, new(Names))
		if err == nil {
			head = *end
		}
		return err
	})
	return head, err
}
