package gate

import (
	"sync"

	"github.com/stopgate/stopgate/session"
)

// isolated is the state that a turn sees of a guessed session: the calls that its own request
// reports and the store confirms, and its own releases. It hides all other facts under the
// same session id.
type isolated struct {
	// leaving is held from the last check of a call to the fact of its release, because
	// the store does not order changes to this state.
	releasing sync.Mutex

	mu    sync.Mutex
	cells map[session.Key]*session.Cell
	head  uint64
}

// add applies a fact after the position head; keys are the cells that it changes.
func (a *isolated) add(head uint64, f session.Fact, keys []session.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys = distinct(keys)
	entries := make([]session.Entry, len(keys))
	for i, k := range keys {
		entries[i] = session.Entry{Key: k, Cell: a.cell(k)}
	}
	next, _, err := session.NewState(max(a.head, head), entries).Append([]session.Fact{f})
	if err != nil {
		return // a second end of a call, which changes nothing
	}
	for _, e := range next.Entries() {
		if e.Changed {
			a.cells[e.Key] = e.Cell
		}
	}
	a.head = next.Head
}

func (a *isolated) cell(k session.Key) *session.Cell {
	if c := a.cells[k]; c != nil {
		return c
	}
	return new(session.Cell)
}

// overlay replaces the session's cells by those that the turn may see. The session's data and
// the cells of the principal stay.
func (a *isolated) overlay(s session.State) session.State {
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

// addReleased applies the facts of a release of the turn.
func (a *isolated) addReleased(head uint64, facts ...session.Fact) {
	if a == nil {
		return
	}
	for i := range facts {
		a.add(head+uint64(i), facts[i], facts[i].Keys())
	}
}

// back applies the withdrawal of a release of the turn.
func (a *isolated) addWithdrawn(released, withdrawn session.Fact) {
	if a != nil {
		a.add(0, withdrawn, append(released.Keys(), withdrawn.Keys()...))
	}
}

// lockReleases prevents that a call of the turn is checked between the check and the release
// of another.
func (a *isolated) lockReleases() (release func()) {
	if a == nil {
		return func() {}
	}
	a.releasing.Lock()
	return a.releasing.Unlock
}
