package gate

import (
	"sync"

	"github.com/stopgate/stopgate/session"
)

// isolated is what a turn may know of a session that was only guessed: the calls that
// its own request tells and the ledger confirms, and what it releases itself. Of everything else that is written under the same guess it sees nothing.
type isolated struct {
	// leaving is held from the last check of a call to the fact of its release: the
	// store only sees to the order of what it keeps itself.
	releasing sync.Mutex

	mu    sync.Mutex
	cells map[session.Key]*session.Cell
	head  uint64
}

// add applies a fact behind the position head; keys are the cells it touches.
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

// overlay puts what the turn may know in the place of what the store knows of the
// session. What an operator said of it, and everything of the principal, stays.
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

// addReleased notes what a call of the turn did to the session.
func (a *isolated) addReleased(head uint64, facts ...session.Fact) {
	if a == nil {
		return
	}
	for i := range facts {
		a.add(head+uint64(i), facts[i], facts[i].Keys())
	}
}

// back notes that a released call did not leave after all.
func (a *isolated) addWithdrawn(released, withdrawn session.Fact) {
	if a != nil {
		a.add(0, withdrawn, append(released.Keys(), withdrawn.Keys()...))
	}
}

// lockReleases keeps siblings from being checked between another's check and its release.
func (a *isolated) lockReleases() (release func()) {
	if a == nil {
		return func() {}
	}
	a.releasing.Lock()
	return a.releasing.Unlock
}
