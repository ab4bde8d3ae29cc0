package ports

import (
	"context"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// Store keeps sessions in maps, one update at a time: the plainest store that there
// can be. The zero Store works.
type Store struct {
	// Fault is asked before every call, with "load" or "update", and once more with
	// "written" behind an update that was kept; an error fails the call. It may panic
	// or block.
	Fault func(ctx context.Context, op string) error
	// Memory makes the gate call the store inline.
	Memory bool

	mu    sync.Mutex
	heads map[stopgate.Principal]uint64
	cells map[place]*session.Cell
	facts map[session.Owner][]session.Fact
	loads int
}

type place struct {
	owner session.Owner
	key   session.Key
}

func at(o session.Owner, k session.Key) place {
	if k.Scope == session.OfPrincipal {
		o.Session = ""
	}
	return place{o, k}
}

var _ gate.Store = (*Store)(nil)

// Capabilities have InMemory as Memory.
func (s *Store) Capabilities() gate.Capabilities { return gate.Capabilities{InMemory: s.Memory} }

func (s *Store) fault(ctx context.Context, op string) error {
	if s.Fault == nil {
		return nil
	}
	return s.Fault(ctx, op)
}

func (s *Store) state(o session.Owner, keys []session.Key) session.State {
	entries := make([]session.Entry, 0, len(keys))
	for _, k := range keys {
		c := s.cells[at(o, k)]
		if c == nil {
			c = new(session.Cell)
		}
		entries = append(entries, session.Entry{Key: k, Cell: c})
	}
	return session.NewState(s.heads[o.Principal], entries)
}

// Load returns the cells.
func (s *Store) Load(ctx context.Context, o session.Owner, keys []session.Key) (session.State, error) {
	if err := s.fault(ctx, "load"); err != nil {
		return session.State{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads++
	return s.state(o, keys), nil
}

// Update keeps what decide says.
func (s *Store) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	if err := s.fault(ctx, "update"); err != nil {
		return err
	}
	if err := s.update(o, keys, decide); err != nil {
		return err
	}
	return s.fault(ctx, "written")
}

func (s *Store) update(o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state(o, keys)
	change, err := decide(state)
	if err != nil {
		return err
	}
	next, facts, err := state.Append(change.Facts)
	if err != nil {
		return err
	}
	if s.heads == nil {
		s.heads, s.cells, s.facts = map[stopgate.Principal]uint64{}, map[place]*session.Cell{}, map[session.Owner][]session.Fact{}
	}
	s.heads[o.Principal] = next.Head
	for _, e := range next.Entries() {
		if e.Changed {
			s.cells[at(o, e.Key)] = e.Cell
		}
	}
	s.facts[o] = append(s.facts[o], facts...)
	return nil
}

// Facts returns the log.
func (s *Store) Facts(_ context.Context, o session.Owner, after uint64, limit int) ([]session.Fact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var some []session.Fact
	for _, f := range s.facts[o] {
		if f.Seq > after && len(some) < limit {
			some = append(some, f)
		}
	}
	return some, nil
}

// Sessions lists nothing: no test of the gate asks.
func (s *Store) Sessions(context.Context, stopgate.Principal, int) ([]session.Info, error) {
	return nil, nil
}

// Principals lists nobody: no test of the gate asks.
func (s *Store) Principals(context.Context, stopgate.SessionID, int) ([]stopgate.Principal, error) {
	return nil, nil
}

// Kinds lists the kinds of a session's facts, in order.
func (s *Store) Kinds(o session.Owner) []session.Kind {
	facts, _ := s.Facts(context.Background(), o, 0, 1<<20)
	var kinds []session.Kind
	for _, f := range facts {
		kinds = append(kinds, f.Kind)
	}
	return kinds
}

// SessionPolicy is a session policy of one function, for the tools it names.
type SessionPolicy struct {
	As     string
	For    []string // "*" if there are none
	Answer func(v session.View, c session.Call) session.Decision
}

// Name is As.
func (p SessionPolicy) Name() string { return p.As }

// Tools is For.
func (p SessionPolicy) Tools() session.Selector {
	if len(p.For) == 0 {
		return policies.Select("*")
	}
	return policies.Select(p.For...)
}

// Needs is nothing.
func (p SessionPolicy) Needs(session.Call) []session.Key { return nil }

// Check calls Answer.
func (p SessionPolicy) Check(v session.View, c session.Call) session.Decision { return p.Answer(v, c) }

// Registry holds policies in order; it panics if one cannot be registered.
func Registry(policies ...session.Policy) *session.Registry {
	r := session.NewRegistry()
	for _, p := range policies {
		if err := r.Register(p); err != nil {
			panic(err)
		}
	}
	return r
}
