// Package mem stores the facts of sessions in memory, for programs that need them only
// while they run, and for tests.
//
//	g, err := gate.New(program, gate.WithStore(mem.New()))
//
// It passes the same behavioural suite as internal/store/sqlite. All state is lost with the
// process: a daily limit starts again. The number of stored calls is bounded: after
// a day, or after many later calls ([MaxCalls]), the result of a call is unknown and its
// fact is dropped. The totals of the calls remain.
package mem

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/session"
)

var _ gate.Store = (*Store)(nil)

// Store stores facts and cells in maps. It is safe for concurrent use. Updates of one
// principal are serialised; those of different principals are independent.
type Store struct {
	mu         sync.RWMutex
	principals map[stopgate.Principal]*principal // entries are never removed
	last       atomic.Pointer[principal]         // principal of the last update
	lockdown   gate.Lockdown
	texts      Texts
}

// principal is the unit of updates.
type principal struct {
	name     stopgate.Principal
	mu       sync.Mutex
	head     uint64
	shared   cells                          // of scope OfPrincipal
	sessions map[stopgate.SessionID]*record // entries are never removed
	last     *record                        // the session that was requested last

	// Memory of the current update: its cells, their entries, and the cell of its call.
	entries     []session.Entry
	cellEntries []*cellEntry
	call        session.Cell
}

// New returns an empty store.
func New() *Store {
	return &Store{principals: map[stopgate.Principal]*principal{}}
}

// Capabilities report that the store is in memory.
func (s *Store) Capabilities() gate.Capabilities {
	return gate.Capabilities{InMemory: true, Texts: &s.texts}
}

// Load returns the current cells.
func (s *Store) Load(ctx context.Context, o session.Owner, keys []session.Key) (session.State, error) {
	if err := ctx.Err(); err != nil {
		return session.State{}, err
	}
	p := s.find(o.Principal)
	if p == nil {
		return (&principal{}).load(o, keys), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.load(o, keys), nil
}

// Update calls decide with the current state and stores the facts of the change, unless
// decide returns an error.
func (s *Store) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := s.ensure(o.Principal)
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.session(o.Session)
	state := p.loadForUpdate(r, keys)
	change, err := decide(state)
	if err != nil || len(change.Facts) == 0 {
		return err
	}
	if r == nil {
		r = newRecord(o.Session)
	}
	facts := r.log.add(change.Facts)
	if err := state.Extend(facts); err != nil {
		r.log.undo(len(facts))
		return err
	}
	if p.last != r {
		p.sessions[o.Session], p.last = r, r
	}
	p.store(r, &state)
	return nil
}

// Facts returns facts of the session after a position.
func (s *Store) Facts(ctx context.Context, o session.Owner, after uint64, limit int) ([]session.Fact, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := s.find(o.Principal)
	if p == nil {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.sessions[o.Session]
	if r == nil {
		return nil, nil
	}
	return r.log.read(after, max(limit, 0)), nil
}

// Sessions lists sessions, the one with the latest fact first.
func (s *Store) Sessions(ctx context.Context, of stopgate.Principal, limit int) ([]session.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	found := map[stopgate.Principal]*principal{}
	for name, p := range s.principals {
		if of == "" || name == of {
			found[name] = p
		}
	}
	s.mu.RUnlock()
	var list []session.Info
	for name, p := range found {
		p.mu.Lock()
		for id, r := range p.sessions {
			first, last := r.log.first(), r.log.last()
			list = append(list, session.Info{
				Owner: session.Owner{Principal: name, Session: id}, Facts: int64(r.log.n),
				First: first.At, Last: last.At, Head: last.Seq,
			})
		}
		p.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b session.Info) int {
		return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(b.Head, a.Head),
			cmp.Compare(a.Owner.Principal, b.Owner.Principal), cmp.Compare(a.Owner.Session, b.Owner.Session))
	})
	return list[:min(len(list), max(limit, 0))], nil
}

// Principals lists the principals that have a session with this id.
func (s *Store) Principals(ctx context.Context, id stopgate.SessionID, limit int) ([]stopgate.Principal, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	all := maps.Clone(s.principals)
	s.mu.RUnlock()
	var list []stopgate.Principal
	for name, p := range all {
		p.mu.Lock()
		if p.sessions[id] != nil {
			list = append(list, name)
		}
		p.mu.Unlock()
	}
	slices.Sort(list)
	return list[:min(len(list), max(limit, 0))], nil
}

func (s *Store) find(name stopgate.Principal) *principal {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.principals[name]
}

func (s *Store) ensure(name stopgate.Principal) *principal {
	if p := s.last.Load(); p != nil && p.name == name {
		return p
	}
	p := s.find(name)
	if p == nil {
		p = s.add(name)
	}
	s.last.Store(p)
	return p
}

func (s *Store) add(name stopgate.Principal) *principal {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.principals[name]
	if p == nil {
		p = &principal{name: name, sessions: map[stopgate.SessionID]*record{}}
		s.principals[name] = p
	}
	return p
}

// session returns a session of the principal, nil if there is none. The caller holds p.mu.
func (p *principal) session(id stopgate.SessionID) *record {
	if r := p.last; r != nil && r.id == id {
		return r
	}
	r := p.sessions[id]
	if r != nil {
		p.last = r
	}
	return r
}

// zero is the cell of a key without facts.
var zero session.Cell

// load reads cells. The caller holds p.mu, and may retain the result.
func (p *principal) load(o session.Owner, keys []session.Key) session.State {
	own := p.session(o.Session)
	entries := make([]session.Entry, len(keys))
	for i := range keys {
		e := &entries[i]
		e.Key = keys[i]
		if isCall(&e.Key) {
			e.Cell = new(session.Cell)
			own.call(&e.Key, e.Cell)
			continue
		}
		if at := p.find(own, &e.Key); at != nil {
			e.Cell, at.shared = at.cell, true
			continue
		}
		e.Cell = &zero
	}
	return session.NewState(p.head, entries)
}

// find returns the entry of a cell of the principal or of one of its sessions, nil if there
// is none.
func (p *principal) find(own *record, k *session.Key) *cellEntry {
	switch {
	case k.Scope == session.OfPrincipal:
		return p.shared.find(k)
	case own == nil:
		return nil
	}
	return own.cells.find(k)
}

// isCall reports whether a key is that of a single call.
func isCall(k *session.Key) bool {
	return k.Space == session.SpaceCall && k.Scope == session.OfSession && k.Name == ""
}

// call writes the cell of a single call.
func (r *record) call(k *session.Key, to *session.Cell) {
	if r == nil {
		*to = session.Cell{}
		return
	}
	r.calls.cell(k.Value, to)
}

// loadForUpdate is like load, and records the entries of the cells. The caller holds p.mu
// until the update ends and does not use the cells after that, so cells without other
// readers are changed in place.
func (p *principal) loadForUpdate(own *record, keys []session.Key) session.State {
	p.entries, p.cellEntries = slices.Grow(p.entries[:0], len(keys))[:len(keys)], slices.Grow(p.cellEntries[:0], len(keys))[:len(keys)]
	spare := &p.call
	for i := range keys {
		k, e := &keys[i], &p.entries[i]
		e.Key, e.Changed = *k, false
		if isCall(k) {
			if spare == nil {
				spare = new(session.Cell)
			}
			own.call(k, spare)
			e.Cell, e.Own, p.cellEntries[i], spare = spare, true, nil, nil
			continue
		}
		at := p.find(own, k)
		if p.cellEntries[i] = at; at != nil {
			e.Cell, e.Own = at.cell, !at.shared
		} else {
			e.Cell, e.Own = &zero, false
		}
	}
	return session.NewState(p.head, p.entries)
}

// store writes the changes of an update. The caller holds p.mu.
func (p *principal) store(r *record, next *session.State) {
	entries := next.Entries()
	for i := range entries {
		e := &entries[i]
		if !e.Changed {
			continue
		}
		of := &r.cells
		if e.Key.Scope == session.OfPrincipal {
			of = &p.shared
		}
		switch at := p.cellEntries[i]; {
		case isCall(&e.Key) && e.Cell.Call.Fact != nil:
			r.calls.put(e.Cell)
		case at == nil:
			of.add(e.Key, e.Cell)
		case e.Cell.IsZero() && e.Key != session.Self:
			of.remove(&e.Key)
		default:
			at.put(e.Cell)
		}
	}
	r.expire(r.log.last().At)
	p.head = next.Head
}
