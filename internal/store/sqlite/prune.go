package sqlite

import (
	"context"
	"fmt"
	"time"

	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/session"
)

// Pruned counts the items that [Store.Retain] removed.
type Pruned struct {
	audit.Pruned
	Facts     int64 `json:"facts"`
	Sessions  int64 `json:"sessions"`
	Approvals int64 `json:"approvals"`
	// Conversations of the terminal agent. They hold arguments and are pruned with them.
	Conversations int64 `json:"conversations"`
	Responses     int64 `json:"ledger"` // entries of the gateway's response log, likewise
	Texts         int64 `json:"texts"`  // conversations of which there were texts
}

// pruneStep is how many rows one change removes, so that writers need not wait for all of them.
const pruneStep = 2000

// Retain removes data older than keep: rows and arguments as [audit.Recorder.Prune] does;
// conversations, the response log and the arguments of questions by the age of arguments; facts and
// approvals by the age of rows; and sessions without a fact for that long, with their cells and texts. Cells
// of the principal, positions, and the cells of other sessions remain, except cells of single calls
// whose result never arrived.
func (s *Store) Retain(ctx context.Context, keep audit.Retention, now time.Time) (p Pruned, err error) {
	if p.Pruned, err = s.records.Prune(ctx, keep, now); err != nil {
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
	p.Approvals = int64(n)
	if err != nil {
		return p, err
	}
	before := keep.Rows.UnixMilli()
	for {
		more, err := s.pruneSession(ctx, before, &p)
		if err != nil {
			return p, fmt.Errorf("prune sessions: %w", err)
		}
		if !more {
			break
		}
	}
	p.Texts, err = s.pruneTexts(ctx, keep.Rows)
	return p, err
}

// singleCalls selects the old cells of single calls.
var singleCalls = "at < ? AND (key GLOB '" + session.SpaceCall.String() + "/*' OR key GLOB '" + session.SpaceCallID.String() +
	"/*' OR key GLOB '" + session.SpaceTurn.String() + "/*')"

// pruneSession prunes some rows of the session with the oldest fact, and reports whether there was
// one.
func (s *Store) pruneSession(ctx context.Context, before int64, p *Pruned) (more bool, err error) {
	var facts, sessions int64
	err = s.db.Change(ctx, func(tx *database.Tx) error {
		if err := s.batchOf(tx).flush(); err != nil {
			return err
		}
		facts, sessions = 0, 0
		var id, last int64
		var err error
		more, err = tx.Get([]any{&id, &last}, "SELECT id, last FROM sessions WHERE principal > 0 AND first < ? ORDER BY first LIMIT 1", before)
		if err != nil || !more {
			return err
		}
		if facts, err = affected(tx, "DELETE FROM facts WHERE session = ?1 AND seq IN ("+
			"SELECT seq FROM facts WHERE session = ?1 AND at < ?2 ORDER BY seq LIMIT ?3)", id, before, pruneStep); err != nil || facts == pruneStep {
			return err
		}
		if last >= before {
			if _, err := affected(tx, "DELETE FROM cells WHERE owner = ? AND "+singleCalls, id, before); err != nil {
				return err
			}
			_, err = tx.Exec("UPDATE sessions SET first = coalesce((SELECT min(at) FROM facts WHERE session = ?1), last), "+
				"facts = (SELECT count(*) FROM facts WHERE session = ?1) WHERE id = ?1", id)
			return err
		}
		// Its id may be reused for another session. After a clock was set back there may be facts
		// younger than the last one.
		rest, err := affected(tx, "DELETE FROM facts WHERE session = ?", id)
		if err != nil {
			return err
		}
		facts += rest
		if _, err := affected(tx, "DELETE FROM cells WHERE owner = ?", id); err != nil {
			return err
		}
		sessions, err = affected(tx, "DELETE FROM sessions WHERE id = ?", id)
		return err
	})
	p.Facts += facts
	p.Sessions += sessions
	return more, err
}

func affected(tx *database.Tx, query string, args ...any) (int64, error) {
	done, err := tx.Exec(query, args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}
