package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/record/spool"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
)

// Options configure a recorder. The zero Options store no arguments.
type Options struct {
	// Gate is the name of the gate, in its rows and in the list of chains.
	Gate      string
	Arguments audit.Keep
	// Redactor is used for KeepRedacted; nil redacts only well-known forms of secrets.
	Redactor *audit.Redactor
	// Local begins the name of a directory on this machine for rows that the database cannot take now;
	// "" for none.
	Local string
}

// Recorder writes rows to a database. It is safe for concurrent use, also with recorders of other
// processes.
type Recorder struct {
	db    *pgdb.DB
	o     Options
	chain atomic.Pointer[chain] // of the connection that writes, nil before the first one

	spool   *spool.Dir  // nil: none
	merging atomic.Bool // a goroutine moves spooled rows into the chain
}

// chain is the chain that a process uses.
type chain struct {
	number int32
	id     string
	gate   string
}

// New returns a recorder for a database that has the [Tables]. It takes a chain when it writes for
// the first time.
func New(db *pgdb.DB, o Options) (*Recorder, error) {
	r := &Recorder{db: db, o: o}
	if o.Arguments == audit.KeepRedacted && o.Redactor == nil {
		var err error
		if r.o.Redactor, err = audit.NewRedactor(nil, nil); err != nil {
			return nil, err
		}
	}
	db.OnConnect(r.claim)
	if o.Local != "" {
		if r.spool = spool.At(o.Local); r.spool.Waiting() > 0 {
			r.merge(mergeDelay)
		}
	}
	return r, nil
}

const claimChain = "SELECT chain, chain_id FROM claim_chain($1, $2, $3)"

// claim takes a chain for a new connection. The lock ends with the connection.
func (r *Recorder) claim(ctx context.Context, conn *pgx.Conn) error {
	c := chain{gate: r.o.Gate}
	if err := conn.QueryRow(ctx, claimChain, []byte(r.o.Gate), newID(), lockClass).Scan(&c.number, &c.id); err != nil {
		return fmt.Errorf("take a chain of audit rows: %w", err)
	}
	r.chain.Store(&c)
	return nil
}

// noChain is the id in rows that are not in a chain yet. All ids have its length.
const noChain = "00000000000000000000000000"

// newID returns the id of a new chain.
func newID() string {
	id := make([]byte, len(noChain)/2)
	rand.Read(id)
	return strings.ToUpper(hex.EncodeToString(id))
}

// Database returns the database of the rows.
func (r *Recorder) Database() *pgdb.DB { return r.db }

// Capabilities describe the recorder to the gate. It is punctual: only the goroutine that writes
// waits for the server.
func (r *Recorder) Capabilities() gate.Capabilities {
	c := gate.Capabilities{
		Progress: r.db.Progress(), Punctual: true, KeepsArguments: r.o.Arguments != audit.KeepNone, RecordAll: r.recordAll,
	}
	if r.spool != nil {
		c.Spool, c.Spooled = r.Spool, r.Spooled
	}
	return c
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

// Record appends a row and returns when it is committed. After an error the row is not in the log,
// or its state is unknown.
func (r *Recorder) Record(ctx context.Context, row *stopgate.Record) error {
	return r.recordAll(ctx, []*stopgate.Record{row})
}

func (r *Recorder) recordAll(ctx context.Context, rows []*stopgate.Record) error {
	p := part{r: r}
	for _, row := range rows {
		e, err := r.Prepare(row)
		if err != nil {
			return err
		}
		p.entries = append(p.entries, e)
	}
	return r.db.Do(ctx, p)
}

// part writes rows in a transaction of the database.
type part struct {
	r       *Recorder
	entries []Entry
}

// Read announces the rows.
func (p part) Read(tx *pgdb.Tx) { p.r.Read(tx) }

// Run writes the rows.
func (p part) Run(tx *pgdb.Tx) error {
	for _, e := range p.entries {
		if err := p.r.Write(tx, e); err != nil {
			return err
		}
	}
	return nil
}

// Entry is an encoded row that is not in a chain yet.
type Entry struct {
	body auditrow.Body
	columns
	hash     []byte // of the arguments, nil if none are kept
	args     []byte
	redacted *string // pointers of the removed values as a JSON list, nil without any
}

// columns are the members of a row by which rows are found.
type columns struct {
	time                                int64
	final                               bool
	event, surface, status, code        *string
	id, session, principal, agent, tool []byte
	rule                                []byte
	mode                                *int16
}

// Prepare does the work for a row that needs no transaction.
func (r *Recorder) Prepare(row *stopgate.Record) (Entry, error) { return r.prepare(row, r.o.Gate) }

// prepare prepares a row for a chain of a gate.
func (r *Recorder) prepare(row *stopgate.Record, gate string) (Entry, error) {
	named := *row
	named.Gate = gate
	body, err := auditrow.Encode(noChain, &named)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{body: body, columns: columnsOf(row)}
	if len(row.Args) == 0 || row.ArgsHash == "" {
		return e, nil
	}
	args, redacted := row.Args, (*string)(nil)
	switch r.o.Arguments {
	case audit.KeepNone:
		return e, nil
	case audit.KeepRedacted:
		text, changed, err := r.o.Redactor.Redact(row.Args)
		if err != nil {
			return e, nil // unreadable arguments are not stored; the row is written without them
		}
		args = text
		if changed != nil {
			list, err := json.Marshal(changed)
			if err != nil {
				return Entry{}, err
			}
			redacted = new(string(list))
		}
	}
	if e.hash, err = hex.DecodeString(row.ArgsHash); err != nil {
		return Entry{}, fmt.Errorf("audit row: the hash of the arguments: %w", err)
	}
	e.args, e.redacted = args, redacted
	return e, nil
}

func columnsOf(row *stopgate.Record) columns {
	c := columns{
		time: row.Time.UnixMicro(), final: row.Kind == stopgate.RecordDecision,
		event: text(row.Event), surface: text(row.Surface), status: text(row.Status), code: text(row.Code),
		id: name(row.ID), session: name(row.Session), principal: name(row.Principal), agent: name(row.Agent), tool: name(row.Tool),
	}
	if row.Mode != nil {
		c.mode = new(int16(*row.Mode))
	}
	if row.Rule != nil {
		c.rule = name(row.Rule.ID)
	}
	return c
}

// name returns the bytes of a name, nil for "". Names of agents, tools and sessions may have bytes that
// a text of the database cannot have.
func name[T ~string](s T) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// text returns a text of the database, nil for "".
func text[T ~string](s T) *string {
	if s == "" {
		return nil
	}
	return new(strings.ToValidUTF8(strings.ReplaceAll(string(s), "\x00", "\uFFFD"), "\uFFFD"))
}

// chainKey is the key of the chainEnd in the values of a transaction.
type chainKey struct{}

// chainEnd is the end of the chain in a transaction, and the rows that are written at its end.
type chainEnd struct {
	chain   *chain
	head    audit.Head
	written int64
	rows    rows
	line    []byte // scratch buffer
}

const lockChain = "SELECT seq, hash, written FROM record_chains WHERE number = $1 FOR UPDATE"

// Read locks the chain and reads its end. It must be called in the Read method of every part that may
// write rows.
func (r *Recorder) Read(tx *pgdb.Tx) {
	if _, ok := tx.Value(chainKey{}).(*chainEnd); ok {
		return
	}
	c := r.chain.Load()
	if c == nil {
		return // Write fails
	}
	t := &chainEnd{chain: c}
	tx.SetValue(chainKey{}, t)
	tx.QueueRead(lockChain, []any{c.number}, func(found pgx.Rows) error {
		_, err := pgx.CollectExactlyOneRow(found, func(row pgx.CollectableRow) (struct{}, error) {
			t.head.Chain = c.id
			return struct{}{}, row.Scan(&t.head.Seq, &t.head.Hash, &t.written)
		})
		return err
	})
	tx.OnWrite(func() error { t.flush(tx.Queue, tx.Now()); return nil })
}

// Write appends a row to the chain. The transaction fails if it is a second decision row of one
// proposal.
func (r *Recorder) Write(tx *pgdb.Tx, e Entry) error {
	t, ok := tx.Value(chainKey{}).(*chainEnd)
	if !ok || t.head.Chain == "" {
		return errors.New("audit row: the end of the chain is not known")
	}
	tx.MarkWritten()
	t.append(e)
	return nil
}

// append seals a row.
func (t *chainEnd) append(e Entry) {
	at := bytes.Index(e.body, []byte(noChainMember))
	if at < 0 { // sealed before, in a transaction that was rolled back
		at = bytes.Index(e.body, []byte(chainMember))
	}
	copy(e.body[at+len(chainMember):], t.chain.id)
	t.head.Seq++
	stored := e.body.Compact(nil)
	stored.Follow(t.head.Hash)
	t.line, t.head.Hash = e.body.Seal(t.line[:0], t.head.Seq, t.head.Hash)
	t.rows.add(t.head.Seq, stored, &e)
}

const (
	chainMember   = `"chain":"`
	noChainMember = chainMember + noChain
)
