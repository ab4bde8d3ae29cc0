package sqlite

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/session"
)

// batch is what the updates of one transaction have read and changed. Cells and
// positions are read once and written once, at its end, however many updates share
// them; facts are written there too, many in one statement.
type batch struct {
	tx         *database.Tx
	principals map[stopgate.Principal]*principal
	facts      []any // arguments of insertFact
	changed    []any // room for those of insertCell
}

const (
	selectOwner = "SELECT id, head FROM sessions WHERE principal = ? AND name = ?"
	selectIDs   = "SELECT min(coalesce((SELECT min(id) FROM sessions), 0), 0) - 1, max(coalesce((SELECT max(id) FROM sessions), 0), 0) + 1"
	insertOwner = "INSERT INTO sessions(id, principal, name, facts, first, last, head) VALUES(?, ?, ?, 0, ?, ?, 0)"
	selectFact  = "SELECT fact FROM facts WHERE session = ? AND seq = ?"
	updateOwner = "UPDATE sessions SET facts = facts + ?, last = max(last, ?), head = ? WHERE id = ?"
)

var (
	insertFact = database.NewInsert("INSERT INTO facts(session, seq, at, fact)", 4, "")
	insertCell = database.NewInsert("REPLACE INTO cells(owner, key, at, cell)", 4, "")
)

// usual are the statements of an update that releases a call, which has three cells at
// least.
func usual() []string {
	return []string{selectOwner, queries()[roomsFor(3)], insertFact.Row(), insertCell.Row(), updateOwner}
}

// principal is the row of a principal, with the negative id; 0 until somebody wrote to it.
type principal struct {
	record
	sessions map[stopgate.SessionID]*record
}

// record is a row of sessions, with what the batch adds to it.
type record struct {
	id    int64
	cells cells
	facts int64
	last  int64
	head  uint64
}

// cells are the cells that were read, or changed.
type cells map[session.Key]*cell

type cell struct {
	now   *session.Cell // never written to
	at    int64         // of the fact that changed it
	dirty bool
}

func newBatch(tx *database.Tx) *batch {
	return &batch{tx: tx, principals: map[stopgate.Principal]*principal{}}
}

// batchKey is where the batch stands in a transaction's values.
type batchKey struct{}

// batchOf is the batch of a changing transaction.
func batchOf(tx *database.Tx) *batch {
	if b, ok := tx.Value(batchKey{}).(*batch); ok {
		return b
	}
	b := newBatch(tx)
	tx.Keep(batchKey{}, b)
	tx.Finally(b.flush)
	return b
}

// locate finds the rows of an owner.
func (b *batch) locate(o session.Owner) (*principal, *record, error) {
	p := b.principals[o.Principal]
	if p == nil {
		p = &principal{record: record{cells: cells{}}, sessions: map[stopgate.SessionID]*record{}}
		if _, err := b.tx.Get([]any{&p.id, &p.head}, selectOwner, 0, string(o.Principal)); err != nil {
			return nil, nil, err
		}
		b.principals[o.Principal] = p
	}
	r := p.sessions[o.Session]
	if r == nil {
		r = &record{cells: cells{}}
		if p.id != 0 {
			if _, err := b.tx.Get([]any{&r.id, &r.head}, selectOwner, -p.id, string(o.Session)); err != nil {
				return nil, nil, err
			}
		}
		p.sessions[o.Session] = r
	}
	return p, r, nil
}

// load returns the state of an owner, with the changes of the updates before.
func (b *batch) load(o session.Owner, keys []session.Key) (session.State, error) {
	p, r, err := b.locate(o)
	if err != nil {
		return session.State{}, err
	}
	if err := b.fill(r.id, session.OfSession, keys, r.cells); err != nil {
		return session.State{}, err
	}
	if err := b.fill(p.id, session.OfPrincipal, keys, p.cells); err != nil {
		return session.State{}, err
	}
	entries := make([]session.Entry, len(keys))
	for i, k := range keys {
		from := r.cells
		if k.Scope == session.OfPrincipal {
			from = p.cells
		}
		entries[i] = session.Entry{Key: k, Cell: from[k].now}
	}
	return session.NewState(p.head, entries), nil
}

// zero is the cell of a key about which there is no fact.
var zero session.Cell

// maxRooms bounds the keys of one query.
const maxRooms = 64

// queries have room for some keys. The numbers of rooms are powers of two, so that
// there are few statements to prepare.
var queries = sync.OnceValue(func() map[int]string {
	m := map[int]string{}
	for rooms := 1; rooms <= maxRooms; rooms *= 2 {
		m[rooms] = "SELECT key, cell FROM cells WHERE owner = ? AND key IN (?" + strings.Repeat(", ?", rooms-1) + ")"
	}
	return m
})

// roomsFor is the room for some keys.
func roomsFor(keys int) int {
	rooms := 1
	for rooms < keys {
		rooms *= 2
	}
	return rooms
}

// fill reads what of one owner's cells was not read yet.
func (b *batch) fill(owner int64, scope session.Scope, keys []session.Key, into cells) error {
	args := []any{owner}
	byText := map[string]session.Key{}
	for i, k := range keys {
		if k.Scope == scope && into[k] == nil {
			into[k] = &cell{now: &zero}
			if owner != 0 {
				text := k.Text()
				byText[text] = k
				args = append(args, text)
			}
		}
		if len(args) > 1 && (len(args) > maxRooms || i == len(keys)-1) {
			if err := b.read(args, byText, into); err != nil {
				return err
			}
			args = args[:1]
		}
	}
	return nil
}

func (b *batch) read(args []any, byText map[string]session.Key, into cells) error {
	rooms := roomsFor(len(args) - 1)
	for len(args) <= rooms {
		args = append(args, nil)
	}
	rows, err := b.tx.Query(queries()[rooms], args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var text []byte
		if err := rows.Scan(&key, &text); err != nil {
			return err
		}
		c, err := session.UnmarshalCell(text)
		if err != nil {
			return err
		}
		into[byText[key]].now = &c
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, k := range byText {
		if c := into[k]; k.Space == session.SpaceCall && c.now.Call.Fact != nil {
			if c.now, err = b.referred(args[0].(int64), c.now); err != nil {
				return err
			}
		}
	}
	return nil
}

// The cell of a call says again what the facts of its release and its end say. A file
// holds only their positions there, in facts that have no kind; the cells of older
// versions have both facts whole.

// referring is a cell as the file holds it.
func referring(k session.Key, c session.Cell) session.Cell {
	if k.Space == session.SpaceCall && k.Scope == session.OfSession {
		c.Call.Fact, c.Call.End = position(c.Call.Fact), position(c.Call.End)
	}
	return c
}

func position(f *session.Fact) *session.Fact {
	if f == nil {
		return nil
	}
	return &session.Fact{Seq: f.Seq}
}

// referred is a cell with the facts that it refers to. A call whose facts are forgotten
// is.
func (b *batch) referred(owner int64, c *session.Cell) (*session.Cell, error) {
	for _, f := range []**session.Fact{&c.Call.Fact, &c.Call.End} {
		if *f == nil || (*f).Kind != "" {
			continue
		}
		var text []byte
		found, err := b.tx.Get([]any{&text}, selectFact, owner, int64((*f).Seq))
		if err != nil {
			return nil, err
		}
		if !found {
			return &zero, nil
		}
		whole := new(session.Fact)
		if err := json.Unmarshal(text, whole); err != nil {
			return nil, fmt.Errorf("fact of a session: %w", err)
		}
		*f = whole
	}
	return c, nil
}

// keep takes what an update changed, to be written by flush. If it fails, the
// transaction is done for and the batch with it.
func (b *batch) keep(o session.Owner, next session.State, facts []session.Fact) error {
	p, r, err := b.locate(o)
	if err != nil {
		return err
	}
	if err := b.make(o, p, r, facts[0].At); err != nil {
		return err
	}
	b.tx.Later()
	for i := range facts {
		f := &facts[i]
		b.facts = append(b.facts, r.id, int64(f.Seq), f.At, session.MarshalFact(f))
	}
	at := facts[len(facts)-1].At
	for _, e := range next.Entries() {
		switch {
		case !e.Changed:
		case e.Key.Scope == session.OfPrincipal:
			p.cells[e.Key] = &cell{now: e.Cell, at: at, dirty: true}
		default:
			r.cells[e.Key] = &cell{now: e.Cell, at: at, dirty: true}
		}
	}
	for _, row := range []*record{r, &p.record} {
		row.facts += int64(len(facts))
		row.last, row.head = max(row.last, at), next.Head // a clock that is set back makes no session old
	}
	return nil
}

// make gives an owner the rows it lacks.
func (b *batch) make(o session.Owner, p *principal, r *record, at int64) error {
	if r.id != 0 {
		return nil
	}
	var below, above int64
	if _, err := b.tx.Get([]any{&below, &above}, selectIDs); err != nil {
		return err
	}
	if p.id == 0 {
		if _, err := b.tx.Exec(insertOwner, below, 0, string(o.Principal), at, at); err != nil {
			return err
		}
		p.id = below
	}
	if _, err := b.tx.Exec(insertOwner, above, -p.id, string(o.Session), at, at); err != nil {
		return err
	}
	r.id = above
	return nil
}

// flush writes what the updates left behind, and begins anew.
func (b *batch) flush() error {
	if err := b.tx.Insert(insertFact, b.facts); err != nil {
		return err
	}
	for _, p := range b.principals {
		if err := b.update(&p.record); err != nil {
			return err
		}
		for _, r := range p.sessions {
			if err := b.update(r); err != nil {
				return err
			}
		}
	}
	err := b.tx.Insert(insertCell, b.changed)
	b.principals, b.facts, b.changed = map[stopgate.Principal]*principal{}, nil, nil
	return err
}

// update writes the row of an owner that has new facts, and leaves its cells to flush.
func (b *batch) update(r *record) error {
	if r.facts == 0 {
		return nil
	}
	for k, c := range r.cells {
		if c.dirty {
			b.changed = append(b.changed, r.id, k.Text(), c.at, session.MarshalCell(referring(k, *c.now)))
		}
	}
	_, err := b.tx.Exec(updateOwner, r.facts, r.last, r.head, r.id)
	return err
}
