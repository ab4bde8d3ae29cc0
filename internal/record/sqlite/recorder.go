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
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/record/spool"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/system/crowd"
)

// Options configure a recorder. The zero Options store no arguments.
type Options struct {
	Arguments audit.Keep
	// Redactor is used for KeepRedacted; nil redacts only well-known forms of secrets.
	Redactor *audit.Redactor
}

// Recorder writes rows to a database. It is safe for concurrent use, also with other recorders of
// the same file.
type Recorder struct {
	db     *database.DB
	chain  string
	o      Options
	likely []string // statements that write the row of a decision

	head    *headFile
	spool   *spool.Dir
	merging atomic.Bool // a goroutine moves spooled rows into the chain
}

// New returns a recorder for a database that has the [Tables].
func New(ctx context.Context, db *database.DB, o Options) (*Recorder, error) {
	r := &Recorder{db: db, o: o, spool: spool.At(db.Path()), head: &headFile{path: database.HeadPath(db.Path())}, likely: []string{selectHead, insertRow.Row()}}
	if o.Arguments != audit.KeepNone {
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
		// Delayed, so that a process that handles one call does not merge: many of them at once
		// would spend their time on it.
		time.AfterFunc(mergeDelay, r.merge)
	}
	return r, nil
}

// Database returns the database of the rows.
func (r *Recorder) Database() *database.DB { return r.db }

// Failed is closed when the file is no longer trusted (FM4).
func (r *Recorder) Failed() <-chan struct{} { return r.db.Failed() }

// Capabilities describe the recorder to the gate. It is punctual: only the database's writing
// goroutine touches the file. All writers run on this machine.
func (r *Recorder) Capabilities() gate.Capabilities {
	return gate.Capabilities{
		Progress: gate.Progress{Advanced: r.db.Advanced, Share: crowd.Share},
		Punctual: true, KeepsArguments: r.o.Arguments != audit.KeepNone, Spool: r.Spool, Spooled: r.Spooled,
	}
}

// KeepsAll reports whether arguments are stored in full.
func (r *Recorder) KeepsAll() bool { return r.o.Arguments == audit.KeepFull }

// Kept returns the stored form of arguments, or nil if they are not stored.
func (r *Recorder) Kept(args []byte) []byte {
	switch r.o.Arguments {
	case audit.KeepFull:
		return args
	case audit.KeepRedacted:
		if text, _, err := r.o.Redactor.Redact(args); err == nil {
			return text
		}
	}
	return nil // unreadable arguments are not stored
}

// Record appends a row and returns when it is on the disk. After an error the row is not in the
// log, or its state is unknown.
func (r *Recorder) Record(ctx context.Context, row *stopgate.Record) error {
	e, err := r.Prepare(row)
	if err != nil {
		return err
	}
	return r.db.Change(ctx, func(tx *database.Tx) error { return r.Write(tx, e) }, r.likely...)
}

// Likely returns the statements that write the row of a decision; see [database.DB.Change].
func (r *Recorder) Likely() []string { return r.likely }

// Entry is an encoded row that is not in the chain yet.
type Entry struct {
	body     auditrow.Body
	time     int64
	final    bool
	id       string
	session  string
	hash     string // of the arguments, "" if none are kept
	args     []byte
	redacted string // pointers of the removed values as a JSON list, "" without any
}

// Prepare does the work for a row that needs no transaction.
func (r *Recorder) Prepare(row *stopgate.Record) (Entry, error) {
	body, err := auditrow.Encode(r.chain, row)
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
			return e, nil // unreadable arguments are not stored; the row is written without them
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

// chainKey is the key of the chainEnd in the values of a transaction.
type chainKey struct{}

// chainEnd is the end of the chain, and the rows of a transaction that are not written yet. They
// are written at the end of the transaction, many in one statement.
type chainEnd struct {
	head audit.Head
	rows []any // arguments of insertRow
}

const (
	selectHead      = "SELECT seq, substr(line, -66) FROM audit_rows ORDER BY seq DESC LIMIT 1"
	insertArguments = "INSERT INTO audit_arguments(hash, time, redacted, text) VALUES(?, ?, ?, ?) ON CONFLICT(hash) DO NOTHING"
	renewArguments  = "UPDATE audit_arguments SET time = ? WHERE hash = ? AND time < ?"
)

// renewAfter is the age, in microseconds, at which the time of repeated arguments is updated.
// Repeated calls thus write it at most once an hour, and the arguments may be pruned an hour early.
const renewAfter = int64(time.Hour / time.Microsecond)

var insertRow = database.NewInsert("INSERT INTO audit_rows(seq, time, final, id, session, line)", 6, "")

func (t *chainEnd) flush(tx *database.Tx) error {
	err := tx.Insert(insertRow, t.rows)
	t.rows = t.rows[:0]
	if err != nil {
		return fmt.Errorf("audit row: %w", err)
	}
	return nil
}

// flush writes the pending rows of the transaction, for a change that reads rows.
func flush(tx *database.Tx) error {
	if t, ok := tx.Value(chainKey{}).(*chainEnd); ok {
		return t.flush(tx)
	}
	return nil
}

// Write appends a row to the chain within a change. It fails for a second decision row of one
// proposal.
func (r *Recorder) Write(tx *database.Tx, e Entry) error {
	t, ok := tx.Value(chainKey{}).(*chainEnd)
	if !ok {
		head, err := headOf(tx, r.chain)
		if err != nil {
			return err
		}
		t = &chainEnd{head: *head}
		tx.SetValue(chainKey{}, t)
		tx.Finally(func() error { return t.flush(tx) })
		tx.OnCommit(func() { _ = r.head.move(t.head, false) }) // a head that is older than the chain is not damage
	}
	tx.MarkWritten()
	t.head.Seq++
	line, hash := e.body.Seal(nil, t.head.Seq, t.head.Hash)
	t.head.Hash = hash
	t.rows = append(t.rows, t.head.Seq, e.time, e.final, orNull(e.id), orNull(e.session), line[:len(line)-1])
	if e.hash == "" {
		return nil
	}
	if err := e.keep(tx); err != nil {
		return fmt.Errorf("audit arguments: %w", err)
	}
	return nil
}

// keep stores the arguments unless they are stored already.
func (e *Entry) keep(tx *database.Tx) error {
	done, err := tx.Exec(insertArguments, e.hash, e.time, orNull(e.redacted), e.args)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); n > 0 || err != nil {
		return err
	}
	_, err = tx.Exec(renewArguments, e.time, e.hash, e.time-renewAfter)
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
	if !ok || len(hash) != len(auditrow.Genesis) {
		return nil, errors.New("audit head: the last row is not a row")
	}
	head.Hash = hash
	return head, nil
}

// orNull returns nil for "", so that absent values are not indexed.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
