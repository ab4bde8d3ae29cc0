package sqlite

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/record/spool"
	"github.com/stopgate/stopgate/internal/store/compact"
	"github.com/stopgate/stopgate/internal/store/database"
)

// spooled is an [Entry] in a spool file.
type spooled struct {
	Body     json.RawMessage `json:"row"`
	Hash     string          `json:"hash,omitempty"`
	Args     []byte          `json:"args,omitempty"`
	Redacted string          `json:"redacted,omitempty"`
}

// Spool stores rows that the database cannot take now in a file next to it, synced, and moves them
// into the chain as soon as possible: in this process, or in the next one that opens the store. The
// rows must not permit a call; an allow requires [Recorder.Record].
func (r *Recorder) Spool(rows []*stopgate.Record) error {
	var lines []byte
	for _, row := range rows {
		line, err := r.spooledLine(row)
		if err != nil {
			return err
		}
		lines = append(lines, line...)
	}
	if err := r.spool.Append(lines); err != nil {
		return err
	}
	r.merge()
	return nil
}

// SpoolNextTo spools the row of a process that cannot open the database file.
func SpoolNextTo(file string, o Options, row *stopgate.Record) error {
	if o.Arguments == audit.KeepRedacted && o.Redactor == nil {
		o.Arguments = audit.KeepNone
	}
	line, err := (&Recorder{o: o}).spooledLine(row)
	if err != nil {
		return err
	}
	return spool.At(file).Append(line)
}

// spooledLine returns the line of a row in a spool file.
func (r *Recorder) spooledLine(row *stopgate.Record) ([]byte, error) {
	e, err := r.Prepare(row)
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // to keep the bytes of the row
	err = enc.Encode(spooled{
		Body: json.RawMessage(e.body), Hash: hex.EncodeToString(e.hash), Args: expanded(e.args), Redacted: e.redacted,
	})
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	return line.Bytes(), nil
}

// Spooled reports whether this process knows of rows that are not in the chain yet.
func (r *Recorder) Spooled() bool { return r.merging.Load() }

// merge moves spooled rows into the chain in the background, and retries until there are none.
func (r *Recorder) merge() {
	if !r.merging.CompareAndSwap(false, true) {
		return
	}
	go func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() { // a change queued at a closed database is not waited for
			select {
			case <-r.db.Ended():
				cancel()
			case <-ctx.Done():
			}
		}()
		defer func() {
			r.merging.Store(false)
			if ctx.Err() == nil && r.db.Err() == nil && r.spool.Waiting() > 0 {
				r.merge() // a row was spooled after the last check
			}
		}()
		pause := firstPause
		select { // the cause of the failure probably persists
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		for r.spool.Waiting() > 0 {
			err := r.Merge(ctx)
			if r.db.Err() != nil || ctx.Err() != nil {
				return
			}
			if err == nil && r.spool.Waiting() == 0 {
				return
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
			pause = min(2*pause, lastPause)
		}
	}()
}

// Bounds of the pause between two attempts.
const (
	mergeDelay = time.Second // after opening the store
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

// mergeStep is how many spooled rows one change writes.
const mergeStep = 256

// Merge moves the spooled rows of this process and of ended processes into the chain. It leaves out
// rows that are already there.
func (r *Recorder) Merge(ctx context.Context) error {
	return r.spool.Drain(func(lines [][]byte) error {
		for len(lines) > 0 {
			n := min(len(lines), mergeStep)
			if err := r.mergeLines(ctx, lines[:n]); err != nil {
				return err
			}
			lines = lines[n:]
		}
		return nil
	})
}

func (r *Recorder) mergeLines(ctx context.Context, lines [][]byte) error {
	return r.db.Change(ctx, func(tx *database.Tx) error {
		for _, line := range lines {
			var s spooled
			if json.Unmarshal(line, &s) != nil {
				continue // an unfinished line, never acknowledged
			}
			if err := flush(tx); err != nil {
				return err
			}
			e, err := r.entryOfSpooled(&s)
			if err != nil {
				return err
			}
			there, err := e.recorded(tx, r.names.In(tx))
			if err != nil {
				return err
			}
			if there {
				continue
			}
			if err := r.Write(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// entryOfSpooled returns the entry of a spooled row. The row has the id of this chain, in case the store was recreated after
// the row was spooled.
func (r *Recorder) entryOfSpooled(s *spooled) (e Entry, err error) {
	var row stopgate.Record
	if err := json.Unmarshal(s.Body, &row); err != nil {
		return e, err
	}
	body := auditrow.Body(s.Body)
	if row.Chain != r.chain {
		if body, err = auditrow.Encode(r.chain, &row); err != nil {
			return e, err
		}
	}
	e = r.entryOf(body, &row)
	if s.Hash == "" {
		return e, nil
	}
	if e.hash, err = hex.DecodeString(s.Hash); err != nil {
		return e, err
	}
	e.args, e.redacted = packed(s.Args), s.Redacted
	return e, nil
}

// recorded reports whether the row is in the chain: a decision of the proposal by any writer, or
// the same event with the same time.
func (e *Entry) recorded(tx *database.Tx, names compact.Names) (there bool, err error) {
	switch {
	case e.final():
		var one int
		return tx.Get([]any{&one}, "SELECT 1 FROM audit_rows WHERE final AND id = ?", e.id)
	case e.id != "":
		rows, err := queryRows(tx, nil, "SELECT seq, stored FROM audit_rows INDEXED BY audit_events WHERE NOT final AND id IS NOT NULL AND id = ? AND time = ?", e.id, e.time)
		for _, r := range rows {
			var row stopgate.Record
			if json.Unmarshal(r.stored.Line(r.seq, names), &row) == nil && row.Event == e.class.Event {
				return true, err
			}
		}
		return false, err
	}
	return false, nil
}
