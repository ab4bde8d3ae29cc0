package session

import (
	"errors"
	"fmt"
	"slices"
)

// State is a part of an [Owner]'s state: the cells that were loaded, at one position. It is
// a value: changes to one copy do not show in another.
type State struct {
	// Head is the position of the newest fact of the principal, 0 if there is none.
	Head uint64
	// Now is the time of the store in Unix milliseconds, for a store whose gates have clocks of
	// their own; it is never before the newest fact of the principal. 0: the time of the gate.
	Now   int64
	cells []Entry
}

// Entry is a cell with its key.
type Entry struct {
	Key     Key
	Cell    *Cell // not nil; never written to, unless Own
	Changed bool  // by [Apply], since the state was made
	// Own reports that no other state shares the cell or its lists: it is changed in place
	// instead of copied.
	Own bool
}

// NewState returns the state of the given cells at a position. cells must have every key
// that was asked for, with a zero cell if the store has none.
func NewState(head uint64, cells []Entry) State {
	return State{Head: head, cells: cells}
}

// Cell returns the cell of a key; ok is false if it was not loaded.
func (s State) Cell(k Key) (c *Cell, ok bool) {
	if e := entryOf(s.cells, &k); e != nil {
		return e.Cell, true
	}
	return &zero, false
}

// zero is the cell of keys that were not loaded.
var zero Cell

// Copy returns the same state with cells and lists of its own.
func (s State) Copy() State {
	s = s.clone()
	for i := range s.cells {
		s.cells[i].Cell = s.cells[i].Cell.copy()
	}
	return s
}

// Has reports whether all keys were loaded.
func (s State) Has(keys []Key) bool {
	for _, k := range keys {
		if _, ok := s.Cell(k); !ok {
			return false
		}
	}
	return true
}

// Entries returns all cells, in the order in which they were loaded.
func (s State) Entries() []Entry { return s.cells }

// Append numbers facts and applies them in order. It returns the state after them, whose
// changed cells a store must keep, and the numbered facts for the log. Cells point to these
// facts: they must not be written to.
func (s State) Append(facts []Fact) (State, []Fact, error) {
	next, numbered := s.clone(), make([]Fact, len(facts))
	for i := range facts {
		f := &numbered[i]
		*f = facts[i]
		f.Seq = next.Head + 1
		if err := next.apply(f); err != nil {
			return s, nil, err
		}
	}
	next.shareCells()
	return next, numbered, nil
}

// Extend is Append in place, for a store: the state must own the list that it was made of,
// and it takes over the facts and the values that they point to. After an error no cell has
// changed, but the state must not be used: a single fact looks up all its cells before it
// changes one, and the cells of several facts are copied.
func (s *State) Extend(facts []Fact) error {
	if len(facts) > 1 {
		s.shareCells()
	}
	for i := range facts {
		facts[i].Seq = s.Head + 1
		if err := s.apply(&facts[i]); err != nil {
			return err
		}
	}
	return nil
}

// Errors of the caller that keeps the state. The state is unchanged after them.
var (
	ErrNotLoaded = errors.New("session: apply fact: cell not loaded")
	errOrder     = errors.New("session: apply fact: not the next position")
	ErrUnknown   = errors.New("session: apply fact: no released call with this proposal id, or it has ended")
)

// clone returns the same state with its own list of entries. The cells are shared.
func (s State) clone() State {
	s.cells = slices.Clone(s.cells)
	s.shareCells()
	return s
}

// shareCells marks all cells as shared, so that they are copied before the next change.
func (s *State) shareCells() {
	for i := range s.cells {
		s.cells[i].Own = false
	}
}

// entryOf returns the first entry of a key, nil if there is none.
func entryOf(cells []Entry, k *Key) *Entry {
	for i := range cells {
		if e := &cells[i]; e.Key.Space == k.Space && e.Key.is(k) {
			return e
		}
	}
	return nil
}

// find is entryOf for a cell that must be loaded.
func (s *State) find(k *Key) (*Entry, error) {
	if e := entryOf(s.cells, k); e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrNotLoaded, k.Text())
}

// change returns a cell of the entry that may be written to, with its lists, until
// [State.shareCells]. The state must own its list of entries.
func (e *Entry) change() *Cell {
	if !e.Own {
		e.Cell, e.Own = e.Cell.copy(), true
	}
	e.Changed = true
	return e.Cell
}

// condition returns the state of the session itself, to be written to.
func (e *Entry) condition() (*Cell, *Condition) {
	c := e.change()
	now := c.self()
	c.Self = &now
	return c, c.Self
}
