package sqlite

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

	classes classes // used by the goroutine that writes
	names   Names

	head    *headFile
	spool   *spool.Dir
	merging atomic.Bool // a goroutine moves spooled rows into the chain
}

// New returns a recorder for a database that has the [Tables].
func New(ctx context.Context, db *database.DB, o Options) (*Recorder, error) {
	r := &Recorder{db: db, o: o, spool: spool.At(db.Path()), head: &headFile{path: database.HeadPath(db.Path())}, likely: []string{selectEnd, selectClass, insertRow.Row()}}
	if o.Arguments != audit.KeepNone {
		r.likely = append(r.likely, insertArguments.Row())
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

// Names are the names of the file, for the facts in it.
func (r *Recorder) Names() *Names { return &r.names }

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
	stored   auditrow.Stored
	class    class
	time     int64
	id       string
	session  string
	names    [2]string // of the policy and the rule
	hash     []byte    // of the arguments, nil if none are kept
	args     []byte    // in their compact form
	redacted string    // pointers of the removed values as a JSON list, "" without any
}

// Prepare does the work for a row that needs no transaction.
func (r *Recorder) Prepare(row *stopgate.Record) (Entry, error) {
	body, err := auditrow.Encode(r.chain, row)
	if err != nil {
		return Entry{}, err
	}
	e := r.entryOf(body, row)
	if len(row.Args) == 0 || row.ArgsHash == "" || r.o.Arguments == audit.KeepNone {
		return e, nil
	}
	args := row.Args
	if r.o.Arguments == audit.KeepRedacted {
		text, changed, err := r.o.Redactor.Redact(args)
		if err != nil {
			return e, nil // unreadable arguments are not stored; the row is written without them
		}
		args = text
		if changed != nil {
			list, err := json.Marshal(changed)
			if err != nil {
				return Entry{}, err
			}
			e.redacted = string(list)
		}
	}
	if e.hash, err = hex.DecodeString(row.ArgsHash); err != nil {
		return Entry{}, fmt.Errorf("audit row: the hash of the arguments: %w", err)
	}
	e.args = packed(args)
	return e, nil
}

// entryOf returns the entry of an encoded row, without arguments.
func (r *Recorder) entryOf(body auditrow.Body, row *stopgate.Record) Entry {
	return Entry{
		body: body, stored: body.Compact(&r.names), class: classOf(row), names: namesOf(row),
		time: row.Time.UnixMicro(), id: string(row.ID), session: string(row.Session),
	}
}

// namesOf returns the texts of a row that those of other rows repeat.
func namesOf(row *stopgate.Record) [2]string {
	if row.Rule == nil {
		return [2]string{row.Policy}
	}
	return [2]string{row.Policy, string(row.Rule.ID)}
}

// final reports whether the row is that of a decision.
func (e *Entry) final() bool { return e.class.Kind == stopgate.RecordDecision }

// chainKey is the key of the chainEnd in the values of a transaction.
type chainKey struct{}

// chainEnd is the end of the chain, and the rows of a transaction that are not written yet. They
// are written at the end of the transaction, many in one statement.
type chainEnd struct {
	head audit.Head
	rows []any  // arguments of insertRow
	args []any  // arguments of insertArguments
	line []byte // scratch buffer

	added map[class]int64 // to the file

	// The bounds of times of audit_chain.
	newest, behind int64
	moved          bool // they have changed
}

const (
	selectEnd = "SELECT c.newest, c.behind, c.epoch, r.seq, r.stored FROM audit_chain c LEFT JOIN audit_rows r ON r.seq = (SELECT max(seq) FROM audit_rows)"
	moveTimes = "UPDATE audit_chain SET newest = ?, behind = ?"
)

// newestStep is how far, in microseconds, the time of a row may be after the stored newest one before that is written again.
const newestStep = int64(time.Minute / time.Microsecond)

// renewAfter is the age, in microseconds, at which the time of repeated arguments is updated.
// Repeated calls thus write it at most once an hour, and the arguments may be pruned an hour early.
const renewAfter = "3600000000"

var (
	insertRow       = database.NewInsert("INSERT INTO audit_rows(seq, time, final, id, owner, class, stored)", 7, "")
	insertArguments = database.NewInsert("INSERT INTO audit_calls(hash, time, redacted, text)", 4,
		"ON CONFLICT(hash) DO UPDATE SET time = excluded.time WHERE time < excluded.time - "+renewAfter)
)

func (t *chainEnd) flush(tx *database.Tx) error {
	err := tx.Insert(insertRow, t.rows)
	t.rows = t.rows[:0]
	if err == nil && t.moved {
		t.moved = false
		_, err = tx.Exec(moveTimes, t.newest, t.behind)
	}
	if err != nil {
		return fmt.Errorf("audit row: %w", err)
	}
	if err := tx.Insert(insertArguments, t.args); err != nil {
		return fmt.Errorf("audit arguments: %w", err)
	}
	t.args = t.args[:0]
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
	t, err := r.end(tx)
	if err != nil {
		return err
	}
	number, err := t.number(tx, &r.classes, e.class)
	if err != nil {
		return fmt.Errorf("audit row: %w", err)
	}
	tx.MarkWritten()
	r.names.Want(tx, r.chain, e.names[0], e.names[1])
	t.head.Seq++
	e.stored.Follow(t.head.Hash)
	t.line, t.head.Hash = e.body.Seal(t.line[:0], t.head.Seq, t.head.Hash)
	t.rows = append(t.rows, t.head.Seq, e.time, e.final(), orNull(e.id), ownerOf(e.session), number, []byte(e.stored))
	if e.time > t.newest+newestStep {
		t.newest, t.moved = e.time, true
	}
	if d := t.newest - e.time; d > t.behind {
		t.behind, t.moved = d, true
	}
	if e.hash != nil {
		t.args = append(t.args, e.hash, e.time, orNull(e.redacted), e.args)
	}
	return nil
}

// end returns the end of the chain in a transaction.
func (r *Recorder) end(tx *database.Tx) (*chainEnd, error) {
	if t, ok := tx.Value(chainKey{}).(*chainEnd); ok {
		return t, nil
	}
	t, epoch, err := endOf(tx, r.chain, &r.names)
	if err != nil {
		return nil, err
	}
	r.classes.at(epoch)
	tx.SetValue(chainKey{}, t)
	tx.Finally(func() error { return t.flush(tx) })
	tx.OnCommit(func() {
		maps.Copy(r.classes.ids, t.added)
		r.classes.count += len(t.added)
		_ = r.head.move(t.head, false) // a head that is older than the chain is not damage
	})
	return t, nil
}

// headOf reads the end of the chain.
func headOf(tx *database.Tx, chain string, names *Names) (*audit.Head, error) {
	t, _, err := endOf(tx, chain, names)
	if err != nil {
		return nil, err
	}
	return &t.head, nil
}

// endOf reads the end of the chain, and the epoch of the classes.
func endOf(tx *database.Tx, chain string, names *Names) (t *chainEnd, epoch int64, err error) {
	t = &chainEnd{head: audit.Head{Chain: chain}}
	var seq *int64
	var stored []byte
	found, err := tx.Get([]any{&t.newest, &t.behind, &epoch, &seq, &stored}, selectEnd)
	if err == nil && !found {
		err = errors.New("the chain has no id")
	}
	if err != nil {
		return nil, 0, fmt.Errorf("audit head: %w", err)
	}
	if seq == nil {
		return t, epoch, nil
	}
	hash, ok := auditrow.HashOf(auditrow.Stored(stored).Line(*seq, names.In(tx)))
	if !ok {
		return nil, 0, errors.New("audit head: the last row is not a row")
	}
	t.head.Seq, t.head.Hash = *seq, hash
	return t, epoch, nil
}

// orNull returns nil for "", so that absent values are not indexed.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
