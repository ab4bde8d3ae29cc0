package postgres

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/encoding"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
	"github.com/stopgate/stopgate/session"
)

// batch holds the rows that the updates of one transaction read and change. Each is read once and
// written once, by one statement for each table.
type batch struct {
	s          *Store
	tx         *pgdb.Tx
	principals map[stopgate.Principal]*principal
	order      []*principal // in the order of the announcements
	lockdown   gate.Lockdown
	wanted     []*cell // to be read
	observed   bool    // the time of the transaction

	facts struct {
		sessions, texts [][]byte
		seqs, times     []int64
	}
}

// principal is a row of principals.
type principal struct {
	name     stopgate.Principal
	id       []byte
	locked   bool
	head     uint64
	last     int64 // time of the newest fact, in milliseconds
	changed  bool
	cells    cells
	sessions map[stopgate.SessionID]*record
}

// record is a row of sessions with the changes of the batch.
type record struct {
	id          []byte
	facts       int64
	first, last int64
	head        uint64
	cells       cells
}

// cells are the cells that were read or changed.
type cells map[session.Key]*cell

type cell struct {
	owner []byte
	key   string
	value *session.Cell // never modified
	at    int64
	dirty bool
}

// zero is the cell of a key without facts.
var zero session.Cell

// batchKey is the key of the batch in the values of a transaction.
type batchKey struct{}

// batchOf returns the batch of a transaction, and creates it if it is missing.
func (s *Store) batchOf(tx *pgdb.Tx) *batch {
	if b, ok := tx.Value(batchKey{}).(*batch); ok {
		return b
	}
	b := &batch{s: s, tx: tx, principals: map[stopgate.Principal]*principal{}}
	tx.SetValue(batchKey{}, b)
	tx.OnRead(b.read)
	tx.OnWrite(b.write)
	tx.OnEnd(b.end)
	return b
}

// announce adds an owner and keys to the rows that are read.
func (b *batch) announce(o session.Owner, keys []session.Key) {
	p, r := b.locate(o)
	for _, k := range keys {
		owner, of := r.id, r.cells
		if k.Scope == session.OfPrincipal {
			owner, of = p.id, p.cells
		}
		if of[k] == nil {
			c := &cell{owner: owner, key: k.Text(), value: &zero}
			of[k] = c
			b.wanted = append(b.wanted, c)
		}
	}
}

// locate returns the rows of an owner.
func (b *batch) locate(o session.Owner) (*principal, *record) {
	p := b.principals[o.Principal]
	if p == nil {
		p = &principal{name: o.Principal, id: idOf(ofPrincipal, string(o.Principal)), cells: cells{}, sessions: map[stopgate.SessionID]*record{}}
		b.principals[o.Principal] = p
		b.order = append(b.order, p)
	}
	r := p.sessions[o.Session]
	if r == nil {
		r = &record{id: idOf(ofSession, string(o.Principal), string(o.Session)), cells: cells{}}
		p.sessions[o.Session] = r
	}
	return p, r
}

// releaseLock is the key of the advisory lock under which calls are released and orders given.
const releaseLock = 0x72656c6561736500

const (
	insertPrincipals = "INSERT INTO principals(id, name) SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT DO NOTHING"
	lockReleases     = "SELECT pg_advisory_xact_lock_shared($1)"
	// Rows are locked in the order of their ids, so that gates do not lock each other out.
	lockPrincipals   = "SELECT id, name, head, last FROM principals WHERE id = ANY($1) ORDER BY id FOR UPDATE"
	selectLockdown   = "SELECT since, author, reason FROM lockdown"
	selectCells      = "SELECT k.n, c.packed FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS k(owner, key, n) JOIN cells c ON c.owner = k.owner AND c.key = k.key"
	insertFacts      = "INSERT INTO facts(session, seq, at, packed) SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bytea[])"
	updatePrincipals = "UPDATE principals p SET head = n.head, last = n.last FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) AS n(id, head, last) WHERE p.id = n.id"
	writeSessions    = "INSERT INTO sessions AS s(id, principal, name, facts, first, last, head) " +
		"SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) " +
		"ON CONFLICT(id) DO UPDATE SET facts = s.facts + excluded.facts, last = greatest(s.last, excluded.last), head = excluded.head"
	writeCells = "INSERT INTO cells(owner, key, at, packed) SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bytea[]) " +
		"ON CONFLICT(owner, key) DO UPDATE SET at = excluded.at, packed = excluded.packed"
)

// read queues the reads of all updates. What follows the locks sees all that was committed under them
// before, because each statement begins when the one before it has ended.
func (b *batch) read() {
	var ids, newIDs, newNames [][]byte
	byID := make(map[string]*principal, len(b.order))
	sorted := slices.SortedFunc(slices.Values(b.order), func(p, o *principal) int { return bytes.Compare(p.id, o.id) })
	b.s.mu.Lock()
	for _, p := range sorted {
		ids = append(ids, p.id)
		byID[string(p.id)] = p
		if !b.s.known[p.name] {
			newIDs, newNames = append(newIDs, p.id), append(newNames, []byte(p.name))
		}
	}
	b.s.mu.Unlock()
	nothing := func(rows pgx.Rows) error { return nil }
	if len(newIDs) > 0 {
		b.tx.QueueRead(insertPrincipals, []any{newIDs, newNames}, nothing)
	}
	b.tx.QueueRead(lockReleases, []any{int64(releaseLock)}, nothing)
	lock := lockPrincipals
	if b.tx.NoWait {
		lock += " SKIP LOCKED"
	}
	b.tx.QueueRead(lock, []any{ids}, func(rows pgx.Rows) error { return scanPrincipals(rows, byID) })
	b.tx.QueueRead(selectLockdown, nil, func(rows pgx.Rows) error {
		l, err := scanLockdown(rows)
		b.lockdown = l
		return err
	})
	owners, keys := make([][]byte, len(b.wanted)), make([][]byte, len(b.wanted))
	for i, c := range b.wanted {
		owners[i], keys[i] = c.owner, []byte(c.key)
	}
	b.tx.QueueRead(selectCells, []any{owners, keys}, func(rows pgx.Rows) error { return scanCells(rows, b.wanted) })
}

func scanPrincipals(rows pgx.Rows, byID map[string]*principal) error {
	var id, name []byte
	var head, last int64
	_, err := pgx.ForEachRow(rows, []any{&id, &name, &head, &last}, func() error {
		p := byID[string(id)]
		if p == nil || string(name) != string(p.name) {
			return errors.New("postgres: the row of a principal has another name")
		}
		p.locked, p.head, p.last = true, uint64(head), last
		return nil
	})
	return err
}

func scanCells(rows pgx.Rows, wanted []*cell) error {
	var n int64
	var text []byte
	_, err := pgx.ForEachRow(rows, []any{&n, &text}, func() error {
		c, err := unmarshalCell(text)
		wanted[n-1].value = c
		return err
	})
	return err
}

func unmarshalCell(text []byte) (*session.Cell, error) {
	c, err := encoding.UnmarshalCell(text)
	return &c, err
}

// state returns the state of an owner, including the changes of earlier updates of the batch. It
// returns nil if another gate has locked the principal.
func (b *batch) state(o session.Owner, keys []session.Key) *session.State {
	p, r := b.locate(o)
	if !p.locked {
		return nil
	}
	if !b.observed {
		b.s.clock.observe(b.tx.Now())
		b.observed = true
	}
	entries := make([]session.Entry, len(keys))
	for i, k := range keys {
		from := r.cells
		if k.Scope == session.OfPrincipal {
			from = p.cells
		}
		entries[i] = session.Entry{Key: k, Cell: from[k].value}
	}
	s := session.NewState(p.head, entries)
	s.Now = max(b.tx.Now().UnixMilli(), p.last)
	return &s
}

// keep takes the changes of an update; write will write them.
func (b *batch) keep(o session.Owner, next session.State, facts []session.Fact) {
	p, r := b.locate(o)
	b.tx.MarkWritten()
	for i := range facts {
		f := &facts[i]
		b.facts.sessions = append(b.facts.sessions, r.id)
		b.facts.seqs = append(b.facts.seqs, int64(f.Seq))
		b.facts.times = append(b.facts.times, f.At)
		b.facts.texts = append(b.facts.texts, encoding.MarshalFact(f, nil))
	}
	at := facts[len(facts)-1].At
	for _, e := range next.Entries() {
		if !e.Changed {
			continue
		}
		of := r.cells
		if e.Key.Scope == session.OfPrincipal {
			of = p.cells
		}
		c := of[e.Key]
		c.value, c.at, c.dirty = e.Cell, at, true
	}
	if r.facts == 0 {
		r.first = facts[0].At
	}
	r.facts += int64(len(facts))
	r.last, p.last = max(r.last, at), max(p.last, at) // a clock that was set back does not make a session older
	p.head, r.head, p.changed = next.Head, next.Head, true
}

// write queues the writes of all updates.
func (b *batch) write() error {
	if len(b.facts.seqs) == 0 {
		return nil
	}
	var ids, sessionIDs, sessionPrincipals, names [][]byte
	var heads, lasts, counts, firsts, sessionLasts, sessionHeads []int64
	var dirty []*cell
	for _, p := range b.order {
		if !p.changed {
			continue
		}
		ids, heads, lasts = append(ids, p.id), append(heads, int64(p.head)), append(lasts, p.last)
		dirty = p.cells.dirty(dirty)
		for name, r := range p.sessions {
			if r.facts == 0 {
				continue
			}
			sessionIDs, sessionPrincipals, names = append(sessionIDs, r.id), append(sessionPrincipals, p.id), append(names, []byte(name))
			counts, firsts, sessionLasts, sessionHeads = append(counts, r.facts), append(firsts, r.first), append(sessionLasts, r.last), append(sessionHeads, int64(r.head))
			dirty = r.cells.dirty(dirty)
		}
	}
	owners, keys, cells, times := make([][]byte, len(dirty)), make([][]byte, len(dirty)), make([][]byte, len(dirty)), make([]int64, len(dirty))
	for i, c := range dirty {
		owners[i], keys[i], times[i], cells[i] = c.owner, []byte(c.key), c.at, encoding.MarshalCell(*c.value)
	}
	b.tx.Queue(updatePrincipals, ids, heads, lasts)
	b.tx.Queue(writeSessions, sessionIDs, sessionPrincipals, names, counts, firsts, sessionLasts, sessionHeads)
	b.tx.Queue(insertFacts, b.facts.sessions, b.facts.seqs, b.facts.times, b.facts.texts)
	b.tx.Queue(writeCells, owners, keys, times, cells)
	return nil
}

// dirty appends the cells that were changed.
func (m cells) dirty(list []*cell) []*cell {
	for _, c := range m {
		if c.dirty {
			list = append(list, c)
		}
	}
	return list
}

// maxKnown bounds the principals that are known to have a row.
const maxKnown = 1 << 16

// end remembers which principals have a row.
func (b *batch) end(o pgdb.Outcome) {
	if o != pgdb.Committed {
		return
	}
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	if len(b.s.known) > maxKnown {
		clear(b.s.known)
	}
	for _, p := range b.order {
		if p.locked {
			b.s.known[p.name] = true
		}
	}
}

func scanLockdown(rows pgx.Rows) (l gate.Lockdown, err error) {
	var since int64
	var by, reason []byte
	_, err = pgx.ForEachRow(rows, []any{&since, &by, &reason}, func() error {
		l = gate.Lockdown{Since: time.UnixMicro(since).UTC(), By: string(by), Reason: string(reason)}
		return nil
	})
	return l, err
}
