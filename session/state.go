package session

import (
	"errors"
	"fmt"
	"slices"
)

// State is a part of an [Owner]'s state: the cells that were asked for, as of one
// position. It is a value: nothing that is done with it changes another copy.
type State struct {
	// Head is the position of the newest fact of the principal, 0 if there is none.
	Head  uint64
	cells []Entry
}

// Entry is a cell with its key.
type Entry struct {
	Key     Key
	Cell    *Cell // not nil; never written to, unless it is Own
	Changed bool  // by [Apply], since the state was made
	// Own says that nobody else looks at the cell, nor at its lists: it is changed where
	// it stands, and not copied.
	Own bool
}

// NewState returns the state of the given cells at a position. Every key that was
// asked for has to be there, with a zero cell if the store has none.
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

// zero is the cell that nothing is known of.
var zero Cell

// Copy returns the same state with cells that nobody else has.
func (s State) Copy() State {
	s = s.own()
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

// Entries are all cells, in the order in which they were loaded.
func (s State) Entries() []Entry { return s.cells }

// Append numbers facts and applies them one after the other. It returns the state
// behind them, whose changed cells a store has to keep, and the facts as they
// belong into the log. Cells point at those: they are not to be written to.
func (s State) Append(facts []Fact) (State, []Fact, error) {
	next, numbered := s.own(), make([]Fact, len(facts))
	for i := range facts {
		f := &numbered[i]
		*f = facts[i]
		f.Seq = next.Head + 1
		if err := next.apply(f); err != nil {
			return s, nil, err
		}
	}
	next.handOut()
	return next, numbered, nil
}

// Extend is Append in place, for a store: the list that the state was made of is its
// own, and the facts and what they point to are given away. After an error the state is
// of no use, but no cell has changed: one fact looks for all its cells first, and the
// cells of several are copied.
func (s *State) Extend(facts []Fact) error {
	if len(facts) > 1 {
		s.handOut()
	}
	for i := range facts {
		facts[i].Seq = s.Head + 1
		if err := s.apply(&facts[i]); err != nil {
			return err
		}
	}
	return nil
}

// Mistakes of whoever keeps the state. None of them changes anything.
var (
	ErrNotLoaded = errors.New("session: a fact touches a cell that was not loaded")
	ErrOrder     = errors.New("session: the fact is not the next one")
	ErrUnknown   = errors.New("session: no released call has this proposal id, or it has ended")
)

// own returns the same state with a list of cells that nobody else has.
func (s State) own() State {
	s.cells = slices.Clone(s.cells)
	s.handOut()
	return s
}

// handOut ends the time in which cells are written to.
func (s *State) handOut() {
	for i := range s.cells {
		s.cells[i].Own = false
	}
}

// entryOf returns the entry of a key, nil if there is none. Of one that was asked for
// twice the first counts.
func entryOf(cells []Entry, k *Key) *Entry {
	for i := range cells {
		if e := &cells[i]; e.Key.Space == k.Space && e.Key.is(k) {
			return e
		}
	}
	return nil
}

// find is entryOf for a cell that has to be there.
func (s *State) find(k *Key) (*Entry, error) {
	if e := entryOf(s.cells, k); e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrNotLoaded, k.Text())
}

// change returns the entry's cell to be written to, with all its lists, until the state
// is handed out. The state has to own its list.
func (e *Entry) change() *Cell {
	if !e.Own {
		e.Cell, e.Own = e.Cell.copy(), true
	}
	e.Changed = true
	return e.Cell
}

// condition returns the state of the session itself to be written to.
func (e *Entry) condition() (*Cell, *Condition) {
	c := e.change()
	now := c.self()
	c.Self = &now
	return c, c.Self
}
