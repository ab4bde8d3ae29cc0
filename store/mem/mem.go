// Package mem keeps the facts of sessions in memory, for programs that need them
// only as long as they run, and for tests.
//
//	g, err := gate.New(program, gate.WithStore(mem.New()))
//
// It passes the same behavioural suite as store/sqlite. Nothing outlives the
// process: a limit per day starts anew with it. What is kept of single calls is
// bounded: after a day, or many later calls ([MaxCalls]), the result of a
// call is not known any more, and its fact is forgotten. What the calls add up to
// stays.
package mem

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/session"
)

var _ gate.Local = (*Store)(nil)

// Store keeps facts and cells in maps. It is safe for concurrent use; updates of
// one principal happen one after the other, those of different principals do not
// meet.
type Store struct {
	mu         sync.RWMutex
	principals map[stopgate.Principal]*principal
	lockdown   gate.Lockdown
}

// principal is one unit of updates.
type principal struct {
	mu       sync.Mutex
	head     uint64
	shared   cells // of scope OfPrincipal
	sessions map[stopgate.SessionID]*record

	// Memory of the update that is under way: its cells, and where they are kept.
	entries []session.Entry
	places  []*place
}

// New returns an empty store.
func New() *Store {
	return &Store{principals: map[stopgate.Principal]*principal{}}
}

// InMemory says that nothing here waits for a disk.
func (*Store) InMemory() bool { return true }

// Load returns cells as of now.
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

// Update decides on the current state and keeps what the change says, or nothing.
func (s *Store) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := s.ensure(o.Principal)
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.begin(o, keys)
	change, err := decide(state)
	if err != nil || len(change.Facts) == 0 {
		return err
	}
	if err := state.Extend(change.Facts); err != nil {
		return err
	}
	p.keep(o, state, change.Facts)
	return nil
}

// Facts returns facts of the session behind a position.
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

// Sessions lists sessions, the one with the newest fact first.
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
			first, last := r.log.ends()
			list = append(list, session.Info{
				Owner: session.Owner{Principal: name, Session: id}, Facts: int64(r.log.len()),
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

func (s *Store) find(name stopgate.Principal) *principal {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.principals[name]
}

func (s *Store) ensure(name stopgate.Principal) *principal {
	if p := s.find(name); p != nil {
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.principals[name]
	if p == nil {
		p = &principal{shared: cells{}, sessions: map[stopgate.SessionID]*record{}}
		s.principals[name] = p
	}
	return p
}

// zero is the cell of a key about which there is no fact.
var zero session.Cell

// load reads cells; p.mu is held. Whoever asked may look at them for ever.
func (p *principal) load(o session.Owner, keys []session.Key) session.State {
	own := p.sessions[o.Session]
	cells := make([]session.Entry, len(keys))
	for i, k := range keys {
		cell, at := p.look(own, &k)
		if at != nil {
			at.lent = true
		}
		cells[i] = session.Entry{Key: k, Cell: cell}
	}
	return session.NewState(p.head, cells)
}

// look finds a cell of the principal or of one of its sessions, which may be nil, and
// where it is kept, if it is kept for good.
func (p *principal) look(own *record, k *session.Key) (*session.Cell, *place) {
	of := p.shared
	if k.Scope != session.OfPrincipal {
		if own == nil {
			return &zero, nil
		}
		if isCall(k) {
			if cell := own.issued[k.Value]; cell != nil {
				return cell, nil
			}
			return &zero, nil
		}
		of = own.cells
	}
	if at := of[*k]; at != nil {
		return at.cell, at
	}
	return &zero, nil
}

// isCall reports whether a key is that of a single call.
func isCall(k *session.Key) bool {
	return k.Space == session.SpaceCall && k.Scope == session.OfSession && k.Name == ""
}

// begin is load for an update: it notes where the cells are kept. p.mu is held until
// the update ends, and nobody looks at the cells after that.
func (p *principal) begin(o session.Owner, keys []session.Key) session.State {
	own := p.sessions[o.Session]
	p.entries, p.places = p.entries[:0], p.places[:0]
	for i := range keys {
		cell, at := p.look(own, &keys[i])
		e := session.Entry{Key: keys[i], Cell: cell}
		if at != nil {
			e.Spare = at.spare
		}
		p.entries, p.places = append(p.entries, e), append(p.places, at)
	}
	return session.NewState(p.head, p.entries)
}

// keep writes what an update changed; p.mu is held.
func (p *principal) keep(o session.Owner, next session.State, facts []session.Fact) {
	r := p.sessions[o.Session]
	if r == nil {
		r = &record{cells: cells{}, issued: map[string]*session.Cell{}}
		p.sessions[o.Session] = r
	}
	entries := next.Entries()
	for i := range entries {
		e := &entries[i]
		if !e.Changed {
			continue
		}
		of := r.cells
		if e.Key.Scope == session.OfPrincipal {
			of = p.shared
		}
		switch at := p.places[i]; {
		case isCall(&e.Key):
			r.issue(e.Key.Value, e.Cell)
		case e.Cell.IsZero():
			delete(of, e.Key)
		case at != nil:
			at.put(e.Cell)
		default:
			of[e.Key] = &place{cell: e.Cell}
		}
	}
	for i := range facts {
		r.log.add(&facts[i])
	}
	r.forget(facts[len(facts)-1].At)
	p.head = next.Head
}
