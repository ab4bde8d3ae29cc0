package sqlite

import (
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/store/encoding"
	"github.com/stopgate/stopgate/session"
)

// batch holds the rows that the updates of one transaction have read and changed. A cell or
// position is read once, and written once at the end of the transaction, for all updates that share
// it. Facts are written then, too, many in one statement.
type batch struct {
	tx         *database.Tx
	names      *audit.Names // of facts
	principals map[stopgate.Principal]*principal
	facts      []any // arguments of insertFact
	cellArgs   []any // arguments of insertCell, reused
}

const (
	// selectOwners finds a principal and one of its sessions, selectOwner the session of a principal that is known.
	selectOwners = "SELECT p.id, p.head, coalesce(s.id, 0), coalesce(s.head, 0) FROM sessions p LEFT JOIN sessions s ON s.principal = -p.id AND s.name = ? " +
		"WHERE p.principal = 0 AND p.name = ?"
	selectOwner = "SELECT id, head FROM sessions WHERE principal = ? AND name = ?"
	selectIDs   = "SELECT min(coalesce((SELECT min(id) FROM sessions), 0), 0) - 1, max(coalesce((SELECT max(id) FROM sessions), 0), 0) + 1"
	insertOwner = "INSERT INTO sessions(id, principal, name, facts, first, last, head) VALUES(?, ?, ?, 0, ?, ?, 0)"
	selectFact  = "SELECT stored FROM facts WHERE session = ? AND seq = ?"
	// updateOwners is updateOwner for a principal with one session.
	updateOwners = "UPDATE sessions SET facts = facts + ?, last = max(last, ?), head = ? WHERE id IN (?, ?)"
	updateOwner  = "UPDATE sessions SET facts = facts + ?, last = max(last, ?), head = ? WHERE id = ?"
)

var (
	insertFact = database.NewInsert("INSERT INTO facts(session, seq, at, stored)", 4, "")
	insertCell = database.NewInsert("REPLACE INTO cells(owner, key, at, stored)", 4, "")
)

// updateStatements returns the statements of an update that releases a call, which has at least
// three cells.
func updateStatements() []string {
	return []string{selectOwners, queries()[placeholdersFor(3)], insertFact.Row(), insertCell.Row(), updateOwners}
}

// principal is the row of a principal, which has a negative id; the id is 0 until the first write.
type principal struct {
	record
	sessions map[stopgate.SessionID]*record
}

// record is a row of sessions, with the changes of the batch.
type record struct {
	id    int64
	cells cells
	facts int64
	last  int64
	head  uint64
}

// cells are the cells that were read or changed.
type cells map[session.Key]*cell

type cell struct {
	value *session.Cell // never modified
	at    int64         // time of the fact that changed it
	dirty bool
}

func newBatch(tx *database.Tx, names *audit.Names) *batch {
	return &batch{tx: tx, names: names, principals: map[stopgate.Principal]*principal{}}
}

// batchKey is the key of the batch in the values of a transaction.
type batchKey struct{}

// batchOf returns the batch of a changing transaction, and creates it if it is missing.
func (s *Store) batchOf(tx *database.Tx) *batch {
	if b, ok := tx.Value(batchKey{}).(*batch); ok {
		return b
	}
	b := newBatch(tx, s.records.Names())
	tx.SetValue(batchKey{}, b)
	tx.Finally(b.flush)
	return b
}

// locate finds the rows of an owner.
func (b *batch) locate(o session.Owner) (*principal, *record, error) {
	p := b.principals[o.Principal]
	if p == nil {
		p = &principal{record: record{cells: cells{}}, sessions: map[stopgate.SessionID]*record{}}
		r := &record{cells: cells{}}
		if _, err := b.tx.Get([]any{&p.id, &p.head, &r.id, &r.head}, selectOwners, string(o.Session), string(o.Principal)); err != nil {
			return nil, nil, err
		}
		b.principals[o.Principal], p.sessions[o.Session] = p, r
		return p, r, nil
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

// load returns the state of an owner, including the changes of earlier updates of the batch.
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
		entries[i] = session.Entry{Key: k, Cell: from[k].value}
	}
	return session.NewState(p.head, entries), nil
}

// zero is the cell of a key without facts.
var zero session.Cell

// maxKeys bounds the keys of one query.
const maxKeys = 64

// queries have placeholders for 1, 2, 4 ... keys, so that few statements need to be prepared.
var queries = sync.OnceValue(func() map[int]string {
	m := map[int]string{}
	for n := 1; n <= maxKeys; n *= 2 {
		m[n] = "SELECT key, stored FROM cells WHERE owner = ? AND key IN (?" + strings.Repeat(", ?", n-1) + ")"
	}
	return m
})

// placeholdersFor returns the number of placeholders of the query for keys keys.
func placeholdersFor(keys int) int {
	n := 1
	for n < keys {
		n *= 2
	}
	return n
}

// fill reads the cells of one owner that are not in the batch yet.
func (b *batch) fill(owner int64, scope session.Scope, keys []session.Key, into cells) error {
	args := []any{owner}
	byText := map[string]session.Key{}
	for i, k := range keys {
		if k.Scope == scope && into[k] == nil {
			into[k] = &cell{value: &zero}
			if owner != 0 {
				text := k.Text()
				byText[text] = k
				args = append(args, text)
			}
		}
		if len(args) > 1 && (len(args) > maxKeys || i == len(keys)-1) {
			if err := b.read(args, byText, into); err != nil {
				return err
			}
			args = args[:1]
		}
	}
	return nil
}

func (b *batch) read(args []any, byText map[string]session.Key, into cells) error {
	n := placeholdersFor(len(args) - 1)
	for len(args) <= n {
		args = append(args, nil)
	}
	rows, err := b.tx.Query(queries()[n], args...)
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
		c, err := encoding.UnmarshalCell(text)
		if err != nil {
			return err
		}
		into[byText[key]].value = &c
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, k := range byText {
		if c := into[k]; k.Space == session.SpaceCall && c.value.Call.Fact != nil {
			if c.value, err = b.withFacts(args[0].(int64), c.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// The cell of a call repeats the facts of its release and its end. The file stores only their
// positions, in facts without a kind; cells of older versions contain both facts in full.

// withPositions returns a cell as it is stored: with positions in place of facts.
func withPositions(k session.Key, c session.Cell) session.Cell {
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

// withFacts returns a stored cell with the facts in place of their positions. It returns the zero
// cell if a fact of the call was pruned.
func (b *batch) withFacts(owner int64, c *session.Cell) (*session.Cell, error) {
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
		fact, err := encoding.UnmarshalFact(text, b.names.In(b.tx))
		if err != nil {
			return nil, err
		}
		*f = &fact
	}
	return c, nil
}

// keep takes the changes of an update; flush will write them. If keep fails, the transaction and
// its batch must be dropped.
func (b *batch) keep(o session.Owner, next session.State, facts []session.Fact) error {
	p, r, err := b.locate(o)
	if err != nil {
		return err
	}
	if err := b.ensureRows(o, p, r, facts[0].At); err != nil {
		return err
	}
	b.tx.MarkWritten()
	for i := range facts {
		f := &facts[i]
		b.facts = append(b.facts, r.id, int64(f.Seq), f.At, encoding.MarshalFact(f, b.names))
		if f.Release != nil {
			b.names.Want(b.tx, f.Release.Policy)
			if rule := f.Release.Verdict.Rule; rule != nil {
				b.names.Want(b.tx, string(rule.ID))
			}
		}
	}
	at := facts[len(facts)-1].At
	for _, e := range next.Entries() {
		switch {
		case !e.Changed:
		case e.Key.Scope == session.OfPrincipal:
			p.cells[e.Key] = &cell{value: e.Cell, at: at, dirty: true}
		default:
			r.cells[e.Key] = &cell{value: e.Cell, at: at, dirty: true}
		}
	}
	for _, row := range []*record{r, &p.record} {
		row.facts += int64(len(facts))
		row.last, row.head = max(row.last, at), next.Head // a clock that was set back does not make a session older
	}
	return nil
}

// ensureRows inserts the rows of an owner that are missing.
func (b *batch) ensureRows(o session.Owner, p *principal, r *record, at int64) error {
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

// flush writes the changes of all updates and empties the batch.
func (b *batch) flush() error {
	if err := b.tx.Insert(insertFact, b.facts); err != nil {
		return err
	}
	for _, p := range b.principals {
		if err := b.updatePrincipal(p); err != nil {
			return err
		}
	}
	err := b.tx.Insert(insertCell, b.cellArgs)
	b.principals, b.facts, b.cellArgs = map[stopgate.Principal]*principal{}, nil, nil
	return err
}

// updatePrincipal writes the rows of a principal and its sessions that have new facts. flush writes their cells.
func (b *batch) updatePrincipal(p *principal) error {
	if p.facts == 0 {
		return nil
	}
	b.addCells(&p.record)
	for _, r := range p.sessions {
		b.addCells(r)
		if r.facts == p.facts { // the only one
			_, err := b.tx.Exec(updateOwners, r.facts, r.last, r.head, p.id, r.id)
			return err
		}
	}
	if _, err := b.tx.Exec(updateOwner, p.facts, p.last, p.head, p.id); err != nil {
		return err
	}
	for _, r := range p.sessions {
		if r.facts > 0 {
			if _, err := b.tx.Exec(updateOwner, r.facts, r.last, r.head, r.id); err != nil {
				return err
			}
		}
	}
	return nil
}

// addCells adds the cells of an owner that changed to those that are written.
func (b *batch) addCells(r *record) {
	for k, c := range r.cells {
		if c.dirty {
			b.cellArgs = append(b.cellArgs, r.id, k.Text(), c.at, encoding.MarshalCell(withPositions(k, *c.value)))
		}
	}
}
