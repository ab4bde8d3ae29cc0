package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/compact"
	"github.com/stopgate/stopgate/internal/store/database"
)

// Cancel writes a cancelled row for every proposal that was asked about before a time and has no
// decision row: the process that asked has died (S26). before must be further back than a live
// process waits for an answer. It returns the number of rows; the questions remain answerable.
func (r *Recorder) Cancel(ctx context.Context, before, now time.Time) (n int, err error) {
	err = r.db.Change(ctx, func(tx *database.Tx) error {
		if err := flush(tx); err != nil {
			return err
		}
		orphans, err := asked(tx, before, r.names.In(tx))
		if err != nil {
			return err
		}
		n = len(orphans)
		for _, row := range orphans {
			e, err := r.Prepare(cancelled(row, now))
			if err != nil {
				return err
			}
			if err := r.Write(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("cancel questions of ended processes: %w", err)
	}
	return n, nil
}

// Statements that find the asked rows without a decision: those with a class, and those of earlier versions.
const (
	undecided = "SELECT seq, stored FROM audit_rows e INDEXED BY audit_class WHERE " +
		"class IN (SELECT id FROM audit_classes WHERE members ->> 'event' = 'asked' UNION ALL SELECT 0) AND time < ? " +
		"AND NOT final AND NOT EXISTS (SELECT 1 FROM audit_rows d WHERE d.final AND d.id = e.id) ORDER BY seq"
	undecidedBefore = "SELECT seq, stored FROM audit_rows e INDEXED BY audit_events WHERE NOT final AND id IS NOT NULL AND time < ? AND class IS NULL " +
		"AND NOT EXISTS (SELECT 1 FROM audit_rows d WHERE d.final AND d.id = e.id) ORDER BY seq"
)

// asked returns the first asked row of every proposal without a decision.
func asked(tx *database.Tx, before time.Time, names compact.Names) (orphans []*stopgate.Record, err error) {
	var rows []found
	waiting, err := unconverted(tx)
	if err == nil && waiting > 0 {
		rows, err = queryRows(tx, rows, undecidedBefore, before.UnixMicro())
	}
	if err == nil {
		rows, err = queryRows(tx, rows, undecided, before.UnixMicro())
	}
	seen := map[stopgate.ProposalID]bool{}
	for _, r := range rows {
		var row stopgate.Record
		if err := json.Unmarshal(r.stored.Line(r.seq, names), &row); err != nil {
			return nil, err
		}
		if row.Event == stopgate.AuditAsked && !seen[row.ID] {
			seen[row.ID] = true
			orphans = append(orphans, &row)
		}
	}
	return orphans, err
}

// cancelled returns the decision row of a proposal that was never decided.
func cancelled(asked *stopgate.Record, now time.Time) *stopgate.Record {
	row := *asked
	mode := stopgate.Deny
	row.Time, row.Kind, row.Event, row.Approval = now.UTC(), stopgate.RecordDecision, "", nil
	row.Status, row.Mode, row.Layer, row.Code, row.Cause = stopgate.StatusCancelled, &mode, stopgate.LayerFailure, stopgate.CodeCancelled, "the process that asked is gone"
	return &row
}
