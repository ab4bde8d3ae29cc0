package turn

import (
	"slices"
	"sync"

	"github.com/stopgate/stopgate/session"
)

// Isolated is the state that a turn sees of a guessed session: the calls that its own request
// reports and the store confirms, and its own releases. It hides all other facts under the
// same session id. The zero Isolated has no calls. A nil *Isolated is the session itself.
type Isolated struct {
	// releasing is held from the last check of a call to the fact of its release, because
	// the store does not order changes to this state.
	releasing sync.Mutex

	mu    sync.Mutex
	cells map[session.Key]*session.Cell
	head  uint64
}

// Add applies a fact after the position head; keys are the cells that it changes.
func (a *Isolated) Add(head uint64, f session.Fact, keys []session.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var entries []session.Entry
	for _, k := range keys {
		if !slices.ContainsFunc(entries, func(e session.Entry) bool { return e.Key == k }) {
			entries = append(entries, session.Entry{Key: k, Cell: a.cell(k)})
		}
	}
	next, _, err := session.NewState(max(a.head, head), entries).Append([]session.Fact{f})
	if err != nil {
		return // a second end of a call
	}
	if a.cells == nil {
		a.cells = make(map[session.Key]*session.Cell)
	}
	for _, e := range next.Entries() {
		if e.Changed {
			a.cells[e.Key] = e.Cell
		}
	}
	a.head = next.Head
}

func (a *Isolated) cell(k session.Key) *session.Cell {
	if c := a.cells[k]; c != nil {
		return c
	}
	return new(session.Cell)
}

// Overlay replaces the session's cells by those that the turn may see. The session's data and
// the cells of the principal stay.
func (a *Isolated) Overlay(s session.State) session.State {
	if a == nil {
		return s
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	entries := make([]session.Entry, len(s.Entries()))
	for i, e := range s.Entries() {
		if e.Key.Scope == session.OfSession && e.Key != session.DataKey {
			e.Cell = a.cell(e.Key)
		}
		entries[i] = e
	}
	return session.NewState(s.Head, entries)
}

// AddReleased applies the facts of a release of the turn.
func (a *Isolated) AddReleased(head uint64, facts ...session.Fact) {
	if a == nil {
		return
	}
	for i := range facts {
		a.Add(head+uint64(i), facts[i], facts[i].Keys())
	}
}

// AddWithdrawn applies the withdrawal of a release of the turn.
func (a *Isolated) AddWithdrawn(released, withdrawn session.Fact) {
	if a != nil {
		a.Add(0, withdrawn, append(released.Keys(), withdrawn.Keys()...))
	}
}

// LockReleases prevents that a call of the turn is checked between the check and the release
// of another.
func (a *Isolated) LockReleases() (release func()) {
	if a == nil {
		return func() {}
	}
	a.releasing.Lock()
	return a.releasing.Unlock
}
