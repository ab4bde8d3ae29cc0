package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/store/database"
)

// Retention is the time of the oldest rows and arguments to keep. A zero time keeps all.
type Retention struct {
	Rows      time.Time
	Arguments time.Time
}

// Pruned counts the rows that [Recorder.Prune] removed.
type Pruned struct {
	Rows      int64 `json:"rows"`
	Arguments int64 `json:"arguments"`
	KeptTexts int64 `json:"kept_texts"`
}

// pruneStep is how many rows or arguments one change removes, so that writers need not wait for all
// of them.
const pruneStep = 2000

// Prune removes data older than keep: rows from the start of the chain up to the first younger
// row, arguments by the last time they were proposed, and texts by their own. A checkpoint row, written in the same
// transaction, names the last removed row (S25).
func (r *Recorder) Prune(ctx context.Context, keep Retention, now time.Time) (p Pruned, err error) {
	if !keep.Arguments.IsZero() {
		if p.Arguments, err = r.pruneArguments(ctx, keep.Arguments); err != nil {
			return p, fmt.Errorf("prune audit arguments: %w", err)
		}
	}
	// They are of no use without the rows that name them.
	if before := latest(keep.Arguments, keep.Rows); !before.IsZero() {
		if p.KeptTexts, err = r.pruneAged(ctx, oldTexts, deleteTexts, int64(0), before); err != nil {
			return p, fmt.Errorf("prune audit texts: %w", err)
		}
	}
	for !keep.Rows.IsZero() {
		n, err := r.pruneRows(ctx, keep.Rows, now)
		p.Rows += n
		if err != nil {
			return p, fmt.Errorf("prune audit rows: %w", err)
		}
		if n < pruneStep {
			break
		}
	}
	if p.Rows > 0 {
		err = r.pruneClasses(ctx)
	}
	return p, err
}

// pruneArguments removes the arguments of this version and of earlier ones.
func (r *Recorder) pruneArguments(ctx context.Context, before time.Time) (n int64, err error) {
	if n, err = r.pruneAged(ctx, oldCalls, deleteCalls, []byte{}, before); err != nil {
		return n, err
	}
	earlier, err := r.pruneAged(ctx, oldArguments, deleteArguments, "", before)
	return n + earlier, err
}

// pruneClasses removes the classes without rows. Recorders that know their numbers notice it by the epoch.
func (r *Recorder) pruneClasses(ctx context.Context) error {
	err := r.db.Change(ctx, func(tx *database.Tx) error {
		if err := flush(tx); err != nil {
			return err
		}
		done, err := tx.Exec("DELETE FROM audit_classes WHERE NOT EXISTS (SELECT 1 FROM audit_rows WHERE class = audit_classes.id)")
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); n == 0 || err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE audit_chain SET epoch = epoch + 1")
		return err
	})
	if err != nil {
		return fmt.Errorf("prune classes of audit rows: %w", err)
	}
	return nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// pruneAged visits all arguments, or texts, once, in the order of their keys, which begin after first. It looks up the old ones
// before the change, so that no writer waits for that.
func (r *Recorder) pruneAged(ctx context.Context, old, remove string, first any, before time.Time) (n int64, err error) {
	for last := first; ; {
		from := last
		last = nil
		found, err := r.db.Get(ctx, []any{&last}, old, from, before.UnixMicro(), pruneStep)
		if err != nil || !found {
			return n, err
		}
		gone := int64(0)
		err = r.db.Change(ctx, func(tx *database.Tx) error {
			done, err := tx.Exec(remove, from, last, before.UnixMicro())
			if err == nil {
				gone, err = done.RowsAffected()
			}
			return err
		})
		if err != nil {
			return n, err
		}
		n += gone
	}
}

// Statements that return the end of the next step over old arguments, and delete the step.
const (
	oldCalls        = "SELECT max(hash) FROM (SELECT hash FROM audit_calls WHERE hash > ? AND time < ? ORDER BY hash LIMIT ?) HAVING count(*) > 0"
	deleteCalls     = "DELETE FROM audit_calls WHERE hash > ? AND hash <= ? AND time < ?"
	oldArguments    = "SELECT max(hash) FROM (SELECT hash FROM audit_arguments WHERE hash > ? AND time < ? ORDER BY hash LIMIT ?) HAVING count(*) > 0"
	deleteArguments = "DELETE FROM audit_arguments WHERE hash > ? AND hash <= ? AND time < ?"
)

func (r *Recorder) pruneRows(ctx context.Context, before, now time.Time) (n int64, err error) {
	err = r.db.Change(ctx, func(tx *database.Tx) error {
		if err := flush(tx); err != nil {
			return err
		}
		n = 0
		var first, firstKept int64
		found, err := tx.Get([]any{&first}, "SELECT seq FROM audit_rows ORDER BY seq LIMIT 1")
		if err != nil || !found {
			return err
		}
		_, err = tx.Get([]any{&firstKept}, "SELECT coalesce("+
			"(SELECT seq FROM audit_rows WHERE seq < ?2 AND time >= ?1 ORDER BY seq LIMIT 1), "+
			"(SELECT seq FROM audit_rows WHERE seq >= ?2 ORDER BY seq LIMIT 1), "+
			"(SELECT max(seq) + 1 FROM audit_rows))", before.UnixMicro(), first+pruneStep)
		if err != nil || firstKept == first {
			return err
		}
		return r.removeBefore(tx, first, firstKept, now, &n)
	})
	return n, err
}

// removeBefore removes the rows before firstKept and adds the checkpoint.
func (r *Recorder) removeBefore(tx *database.Tx, first, firstKept int64, now time.Time, n *int64) error {
	last, err := hashAt(tx, firstKept-1, &r.names)
	if err != nil {
		return err
	}
	e, err := r.Prepare(&stopgate.Record{
		Version: stopgate.RecordVersion, Time: now.UTC(), Kind: stopgate.RecordEvent, Event: stopgate.AuditCheckpoint,
		Cause: "pruned", Count: firstKept - first, Checkpoint: &stopgate.Checkpoint{Seq: firstKept - 1, Hash: last},
	})
	if err != nil {
		return err
	}
	if err := r.Write(tx, e); err != nil {
		return err
	}
	done, err := tx.Exec("DELETE FROM audit_rows WHERE seq < ?", firstKept)
	if err != nil {
		return err
	}
	*n, err = done.RowsAffected()
	return err
}

// hashAt returns the hash of a row.
func hashAt(tx *database.Tx, seq int64, names *Names) (hash string, err error) {
	var stored []byte
	found, err := tx.Get([]any{&stored}, "SELECT stored FROM audit_rows WHERE seq = ?", seq)
	if err != nil {
		return "", err
	}
	hash, ok := auditrow.HashOf(auditrow.Stored(stored).Line(seq, names.In(tx)))
	if !found || !ok {
		return "", fmt.Errorf("row %d is not a row", seq)
	}
	return hash, nil
}
