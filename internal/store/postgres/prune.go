package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	records "github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/session"
)

// Steps of a change that removes rows, so that nothing waits for all of them: rows, and rows that
// have many others.
const (
	pruneStep = 2000
	fewStep   = 50
)

// longer gives a step of removing the time that a decision would not get.
const longer = "SET LOCAL statement_timeout = '60s'"

// Retain removes data older than keep: rows, arguments and kept texts as [records.Recorder.Prune] does; conversations, the response log and the arguments of questions
// by the age of arguments; facts and approvals by the age of rows; and sessions without a fact for that
// long, with their cells and texts. Cells of the principal, positions, and the cells of other sessions
// remain, except cells of single calls whose result never arrived.
func (s *Store) Retain(ctx context.Context, keep backend.Retention, now time.Time) (p backend.Pruned, err error) {
	rows, err := s.records.Prune(ctx, records.Retention(keep), now)
	if p.Rows, p.Arguments, p.KeptTexts = rows.Rows, rows.Arguments, rows.KeptTexts; err != nil {
		return p, err
	}
	if !keep.Arguments.IsZero() {
		if p.Conversations, err = s.pruneConversations(ctx, keep.Arguments); err != nil {
			return p, err
		}
		if err := s.removeArguments(ctx, keep.Arguments); err != nil {
			return p, err
		}
		if p.Responses, err = s.pruneResponseLog(ctx, keep.Arguments); err != nil {
			return p, err
		}
	}
	if keep.Rows.IsZero() {
		return p, nil
	}
	n, err := s.Prune(ctx, keep.Rows)
	if p.Approvals = int64(n); err != nil {
		return p, err
	}
	if p.Facts, err = s.db.DropPartitions(ctx, "facts", keep.Rows.UnixMilli()); err != nil {
		return p, fmt.Errorf("prune facts: %w", err)
	}
	for more := true; more; {
		if more, err = s.pruneSessions(ctx, keep.Rows.UnixMilli(), &p); err != nil {
			return p, fmt.Errorf("prune sessions: %w", err)
		}
	}
	p.Texts, err = s.pruneTexts(ctx, keep.Rows)
	return p, err
}

// inSteps runs a statement until it finds fewer rows than its limit, the last of its arguments. It
// returns how many there were.
func (s *Store) inSteps(ctx context.Context, query string, before, limit int64) (n int64, err error) {
	for {
		var removed int64
		err := s.db.Change(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, longer); err != nil {
				return err
			}
			done, err := tx.Exec(ctx, query, before, limit)
			removed = done.RowsAffected()
			return err
		})
		if err != nil {
			return n, err
		}
		if n += removed; removed < limit {
			return n, nil
		}
	}
}

// singleCalls selects the old cells of single calls.
var singleCalls = "at < $2 AND (key LIKE '" + session.SpaceCall.String() + "/%' OR key LIKE '" + session.SpaceCallID.String() +
	"/%' OR key LIKE '" + session.SpaceTurn.String() + "/%')"

// pruneSessions prunes some sessions with old facts, under the locks of their principals, and reports
// whether there may be more.
func (s *Store) pruneSessions(ctx context.Context, before int64, p *backend.Pruned) (more bool, err error) {
	var facts, sessions int64
	err = s.db.Change(ctx, func(tx pgx.Tx) error {
		facts, sessions, more = 0, 0, false
		if _, err := tx.Exec(ctx, longer); err != nil {
			return err
		}
		var principal []byte
		rows, err := tx.Query(ctx, "SELECT principal FROM sessions WHERE first < $1 LIMIT 1", before)
		if err != nil {
			return err
		}
		found := false
		if _, err := pgx.ForEachRow(rows, []any{&principal}, func() error { found = true; return nil }); err != nil || !found {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT FROM principals WHERE id = $1 FOR UPDATE", principal); err != nil {
			return err
		}
		if rows, err = tx.Query(ctx, "SELECT id FROM sessions WHERE principal = $1 AND first < $2 LIMIT $3", principal, before, fewStep); err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			return err
		}
		more = true
		return pruneThose(ctx, tx, ids, before, &facts, &sessions)
	})
	if err == nil {
		p.Facts += facts
		p.Sessions += sessions
	}
	return more, err
}

// pruneThose prunes sessions of a principal that is locked. After a clock was set back there may be
// facts younger than the last one of a session that is removed: they go with it.
func pruneThose(ctx context.Context, tx pgx.Tx, ids [][]byte, before int64, facts, sessions *int64) error {
	for _, step := range []struct {
		query string
		n     *int64
	}{
		{"DELETE FROM facts f USING sessions s WHERE s.id = ANY($1) AND f.session = s.id AND (f.at < $2 OR s.last < $2)", facts},
		{"DELETE FROM cells c USING sessions s WHERE s.id = ANY($1) AND c.owner = s.id AND s.last < $2", nil},
		{"DELETE FROM cells WHERE owner = ANY($1) AND " + singleCalls, nil},
		{"DELETE FROM sessions WHERE id = ANY($1) AND last < $2", sessions},
		{"UPDATE sessions s SET first = coalesce((SELECT min(at) FROM facts f WHERE f.session = s.id), s.last), " +
			"facts = (SELECT count(*) FROM facts f WHERE f.session = s.id) WHERE id = ANY($1) AND $2::bigint IS NOT NULL", nil},
	} {
		done, err := tx.Exec(ctx, step.query, ids, before)
		if err != nil {
			return err
		}
		if step.n != nil {
			*step.n += done.RowsAffected()
		}
	}
	return nil
}
