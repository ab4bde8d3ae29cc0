package postgres

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/spool"
)

// Spool stores rows that the database cannot take now in a file on this machine, synced, and moves them
// into the chain as soon as possible: in this process, or in the next one that opens the store on this
// machine. The rows must not permit a call; an allow requires [Recorder.Record].
func (r *Recorder) Spool(rows []*stopgate.Record) error {
	var lines []byte
	for _, row := range rows {
		e, err := r.Prepare(row)
		if err != nil {
			return err
		}
		line, err := spool.Row{Record: json.RawMessage(e.body), Args: e.args, Redacted: e.redacted}.Line()
		if err != nil {
			return err
		}
		lines = append(lines, line...)
	}
	if err := r.spool.Append(lines); err != nil {
		return err
	}
	r.merge(firstPause)
	return nil
}

// Spooled reports whether this process knows of rows that are not in the chain yet.
func (r *Recorder) Spooled() bool { return r.merging.Load() }

// Bounds of the pause between two attempts.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
	// mergeDelay is the pause after opening the store, so that a process that handles one call does
	// not merge.
	mergeDelay = time.Second
)

// merge moves spooled rows into the chain in the background, and retries until there are none.
func (r *Recorder) merge(pause time.Duration) {
	if !r.merging.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer func() {
			r.merging.Store(false)
			if r.db.Err() == nil && r.spool.Waiting() > 0 && !r.ended() {
				r.merge(pause) // a row was spooled after the last check
			}
		}()
		for {
			select {
			case <-time.After(pause):
			case <-r.db.Closing():
				return
			}
			err := r.Merge(context.Background())
			if r.db.Err() != nil || err == nil && r.spool.Waiting() == 0 {
				return
			}
			pause = min(2*pause, lastPause)
		}
	}()
}

// ended reports whether the database is closed.
func (r *Recorder) ended() bool {
	select {
	case <-r.db.Closing():
		return true
	default:
		return false
	}
}

// Merge moves the spooled rows of this process and of ended processes into the chain. It leaves out
// rows that are already there.
func (r *Recorder) Merge(ctx context.Context) error {
	return r.spool.Drain(func(lines [][]byte) error {
		for _, line := range lines {
			var s spool.Row
			var row stopgate.Record
			if json.Unmarshal(line, &s) != nil || json.Unmarshal(s.Record, &row) != nil {
				continue // an unfinished line, never acknowledged
			}
			there, err := r.recorded(ctx, &row)
			if err != nil {
				return err
			}
			if there {
				continue
			}
			e, err := r.Prepare(&row)
			if err != nil {
				return err
			}
			if s.Args != nil {
				if e.hash, err = hex.DecodeString(row.ArgsHash); err != nil {
					return err
				}
				e.args, e.redacted = s.Args, s.Redacted
			}
			if err := r.db.Do(ctx, part{r, []Entry{e}}); err != nil {
				return err
			}
		}
		return nil
	})
}

// recorded reports whether a row is in a chain: a decision of the proposal by any gate, or the same
// event with the same time.
func (r *Recorder) recorded(ctx context.Context, row *stopgate.Record) (there bool, err error) {
	query, args := "SELECT EXISTS (SELECT FROM records WHERE id = $1 AND event = $2 AND time = $3)", []any{[]byte(row.ID), string(row.Event), row.Time.UnixMicro()}
	switch {
	case row.ID == "":
		return false, nil
	case row.Kind == stopgate.RecordDecision:
		query, args = "SELECT EXISTS (SELECT FROM record_decisions WHERE id = $1)", args[:1]
	}
	err = r.db.Read(ctx, func(tx pgx.Tx) error { return tx.QueryRow(ctx, query, args...).Scan(&there) })
	return there, err
}
