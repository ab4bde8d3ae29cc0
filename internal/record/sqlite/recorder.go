package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/spool"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/system/crowd"
)

// Options change what a recorder keeps beside the rows. The zero Options keep no
// arguments.
type Options struct {
	Arguments audit.Keep
	// Redactor is needed for KeepRedacted; nil knows only the well-known forms.
	Redactor *audit.Redactor
}

// Recorder writes rows to a database. It is safe for concurrent use, also with
// other recorders on the same file.
type Recorder struct {
	db     *database.DB
	chain  string
	o      Options
	likely []string // statements of a decision's row

	head    *headFile
	spool   *spool.Dir
	merging atomic.Bool // a goroutine moves spooled rows into the chain
}

// New returns a recorder for a database that has the [Tables].
func New(ctx context.Context, db *database.DB, o Options) (*Recorder, error) {
	r := &Recorder{db: db, o: o, spool: spool.At(db.Path()), head: &headFile{path: database.HeadPath(db.Path())}, likely: []string{selectHead, insertRow.Row()}}
	if r.KeepsArguments() {
		r.likely = append(r.likely, insertArguments)
	}
	if o.Arguments == audit.KeepRedacted && o.Redactor == nil {
		var err error
		if r.o.Redactor, err = audit.NewRedactor(nil, nil); err != nil {
			return nil, err
		}
	}
	found, err := db.Get(ctx, []any{&r.chain}, "SELECT id FROM audit_chain")
	if err == nil && !found {
		err = errors.New("the chain has no id")
	}
	if err != nil {
		return nil, fmt.Errorf("audit rows of %s: %w", db.Path(), err)
	}
	if err := r.guardHead(ctx); err != nil {
		return nil, err
	}
	if r.spool.Waiting() > 0 {
		// Not by a process that lives for one call: many of them at once would do nothing else.
		time.AfterFunc(mergeDelay, r.merge)
	}
	return r, nil
}

// Database is the database that the rows go to.
func (r *Recorder) Database() *database.DB { return r.db }

// Failed is closed when the file is not trusted any more (FM4).
func (r *Recorder) Failed() <-chan struct{} { return r.db.Failed() }

// KeepsArguments reports whether arguments are kept, in whole or redacted.
func (r *Recorder) KeepsArguments() bool { return r.o.Arguments != audit.KeepNone }

// KeepsAll reports whether arguments are kept as they are.
func (r *Recorder) KeepsAll() bool { return r.o.Arguments == audit.KeepFull }

// Kept is what is kept of arguments, nil for nothing.
func (r *Recorder) Kept(args []byte) []byte {
	switch r.o.Arguments {
	case audit.KeepFull:
		return args
	case audit.KeepRedacted:
		if text, _, err := r.o.Redactor.Redact(args); err == nil {
			return text
		}
	}
	return nil // what cannot be read is not kept
}

// Punctual reports that every call returns when its context ends: the file is in the
// hands of a goroutine of its own.
func (r *Recorder) Punctual() bool { return true }

// Advanced changes whenever a process has written to the file; see [database.DB.Advanced].
func (r *Recorder) Advanced() uint64 { return r.db.Advanced() }

// Share is the part of a processor that a writer gets now: all of them run here.
func (r *Recorder) Share() float64 { return crowd.Share() }

// Record appends a row and returns when it is on the disk. An error means that it
// is not in the log, or that nobody can tell.
func (r *Recorder) Record(ctx context.Context, row *stopgate.Record) error {
	e, err := r.Prepare(row)
	if err != nil {
		return err
	}
	return r.db.Change(ctx, func(tx *database.Tx) error { return r.Write(tx, e) }, r.likely...)
}

// Likely are the statements that write a row of a decision; see [database.DB.Change].
func (r *Recorder) Likely() []string { return r.likely }

// Entry is a row that is written out but not in the chain yet.
type Entry struct {
	body     audit.Body
	time     int64
	final    bool
	id       string
	session  string
	hash     string // of the arguments, "" if none are kept
	args     []byte
	redacted string // pointers as a JSON list, "" if nothing was taken out
}

// Prepare does what a row needs outside of a transaction.
func (r *Recorder) Prepare(row *stopgate.Record) (Entry, error) {
	body, err := audit.NewBody(r.chain, row)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{
		body: body, time: row.Time.UnixMicro(), final: row.Kind == stopgate.RecordDecision,
		id: string(row.ID), session: string(row.Session),
	}
	if len(row.Args) == 0 || row.ArgsHash == "" {
		return e, nil
	}
	switch r.o.Arguments {
	case audit.KeepFull:
		e.hash, e.args = row.ArgsHash, row.Args
	case audit.KeepRedacted:
		text, changed, err := r.o.Redactor.Redact(row.Args)
		if err != nil {
			return e, nil // what cannot be read is not kept; the row stands by itself
		}
		e.hash, e.args = row.ArgsHash, text
		if changed != nil {
			list, err := json.Marshal(changed)
			if err != nil {
				return Entry{}, err
			}
			e.redacted = string(list)
		}
	}
	return e, nil
}

// chainKey is where a transaction keeps its end of the chain.
type chainKey struct{}

// tail is the end of the chain, and the rows of a transaction that are not written
// yet: they are, many in one statement, at its end.
type tail struct {
	head audit.Head
	rows []any // arguments of insertRow
}

const (
	selectHead      = "SELECT seq, substr(line, -66) FROM audit_rows ORDER BY seq DESC LIMIT 1"
	insertArguments = "INSERT INTO audit_arguments(hash, time, redacted, text) VALUES(?, ?, ?, ?) ON CONFLICT(hash) DO NOTHING"
	renewArguments  = "UPDATE audit_arguments SET time = ? WHERE hash = ? AND time < ?"
)

// renewal is how old the time of arguments may be that are proposed again, in
// microseconds: they may go by so much earlier, and calls that are repeated write them
// once.
const renewal = int64(time.Hour / time.Microsecond)

var insertRow = database.NewInsert("INSERT INTO audit_rows(seq, time, final, id, session, line)", 6, "")

func (t *tail) flush(tx *database.Tx) error {
	err := tx.Insert(insertRow, t.rows)
	t.rows = t.rows[:0]
	if err != nil {
		return fmt.Errorf("audit row: %w", err)
	}
	return nil
}

// flush writes what changes before this one left to be written, for one that reads
// rows.
func flush(tx *database.Tx) error {
	if t, ok := tx.Value(chainKey{}).(*tail); ok {
		return t.flush(tx)
	}
	return nil
}

// Write seals a row behind the chain's head within a change. The change fails for a
// second decision row of one proposal.
func (r *Recorder) Write(tx *database.Tx, e Entry) error {
	t, ok := tx.Value(chainKey{}).(*tail)
	if !ok {
		head, err := headOf(tx, r.chain)
		if err != nil {
			return err
		}
		t = &tail{head: *head}
		tx.Keep(chainKey{}, t)
		tx.Finally(func() error { return t.flush(tx) })
		tx.After(func() { _ = r.head.move(t.head, false) }) // a head that is behind is no damage
	}
	tx.Later()
	line := t.head.Append(nil, e.body)
	t.rows = append(t.rows, t.head.Seq, e.time, e.final, orNull(e.id), orNull(e.session), line[:len(line)-1])
	if e.hash == "" {
		return nil
	}
	if err := e.keep(tx); err != nil {
		return fmt.Errorf("audit arguments: %w", err)
	}
	return nil
}

// keep writes the arguments, unless they are there.
func (e *Entry) keep(tx *database.Tx) error {
	done, err := tx.Exec(insertArguments, e.hash, e.time, orNull(e.redacted), e.args)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); n > 0 || err != nil {
		return err
	}
	_, err = tx.Exec(renewArguments, e.time, e.hash, e.time-renewal)
	return err
}

// headOf reads the end of the chain.
func headOf(tx *database.Tx, chain string) (*audit.Head, error) {
	head := &audit.Head{Chain: chain}
	var end string
	found, err := tx.Get([]any{&head.Seq, &end}, selectHead)
	if err != nil {
		return nil, fmt.Errorf("audit head: %w", err)
	}
	if !found {
		return head, nil
	}
	hash, ok := strings.CutSuffix(end, `"}`)
	if !ok || len(hash) != len(audit.Genesis) {
		return nil, errors.New("audit head: the last row is not a row")
	}
	head.Hash = hash
	return head, nil
}

// orNull keeps what is absent out of the indexes.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
