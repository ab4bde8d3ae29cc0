package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
)

// Cancel writes a cancelled row for every proposal that was asked about before a time and has no
// decision row: the process that asked has died (S26). before must be further back than a live
// process waits for an answer. It returns the number of rows; the questions remain answerable.
func (r *Recorder) Cancel(ctx context.Context, before, now time.Time) (n int, err error) {
	lines, err := query(ctx, r.db, "SELECT chain, seq, packed, written FROM records e WHERE event = 'asked' AND id IS NOT NULL AND time < $1 "+
		"AND NOT EXISTS (SELECT FROM record_decisions d WHERE d.id = e.id) ORDER BY written, chain, seq LIMIT $2", before.UnixMicro(), page)
	if err != nil {
		return 0, fmt.Errorf("cancel questions of ended processes: %w", err)
	}
	seen := map[stopgate.ProposalID]bool{}
	for _, l := range lines {
		var row stopgate.Record
		if err := json.Unmarshal(l.Text, &row); err != nil {
			return n, fmt.Errorf("cancel questions of ended processes: %w", err)
		}
		if row.Event != stopgate.AuditAsked || seen[row.ID] {
			continue
		}
		seen[row.ID] = true
		// One by one: another gate may cancel the same ones.
		if err := r.Record(ctx, cancelled(&row, now)); err != nil {
			return n, fmt.Errorf("cancel questions of ended processes: %w", err)
		}
		n++
	}
	return n, nil
}

// cancelled returns the decision row of a proposal that was never decided.
func cancelled(asked *stopgate.Record, now time.Time) *stopgate.Record {
	row := *asked
	mode := stopgate.Deny
	row.Time, row.Kind, row.Event, row.Approval = now.UTC(), stopgate.RecordDecision, "", nil
	row.Status, row.Mode, row.Layer, row.Code, row.Cause = stopgate.StatusCancelled, &mode, stopgate.LayerFailure, stopgate.CodeCancelled, "the process that asked is gone"
	return &row
}
