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
	Cell    *Cell // not nil; never written to
	Changed bool  // by [Apply], since the state was made
	// Spare is a cell that nobody looks at, or nil: what the entry's cell changes to may
	// be written there, and into the lists that it has.
	Spare *Cell

	fresh bool // the cell is a copy that is still written to
}

// NewState returns the state of the given cells at a position. Every key that was
// asked for has to be there, with a zero cell if the store has none.
func NewState(head uint64, cells []Entry) State {
	return State{Head: head, cells: cells}
}

// Cell returns the cell of a key; ok is false if it was not loaded.
func (s State) Cell(k Key) (c *Cell, ok bool) {
	for i := range s.cells {
		if s.cells[i].Key.is(&k) {
			return s.cells[i].Cell, true
		}
	}
	return &zero, false
}

// zero is the cell that nothing is known of.
var zero Cell

// Copy returns the same state with cells that nobody else has.
func (s State) Copy() State {
	s = s.own()
	for i := range s.cells {
		s.cells[i].Cell = s.cells[i].Cell.copyInto(nil)
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
// own, and the facts and what they point to are given away.
func (s *State) Extend(facts []Fact) error {
	for i := range facts {
		facts[i].Seq = s.Head + 1
		if err := s.apply(&facts[i]); err != nil {
			return err
		}
	}
	s.handOut()
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

// handOut ends the time in which copies of cells are written to.
func (s *State) handOut() {
	for i := range s.cells {
		s.cells[i].fresh, s.cells[i].Spare = false, nil
	}
}

// change puts a copy in the place of a cell, to be written to, with all its lists,
// until the state is handed out. The state has to own its list. Of a key that was
// asked for twice the first cell counts.
func (s *State) change(k *Key) (*Cell, error) {
	for i := range s.cells {
		e := &s.cells[i]
		if !e.Key.is(k) {
			continue
		}
		if !e.fresh {
			e.Cell, e.Changed, e.fresh = e.Cell.copyInto(e.Spare), true, true
		}
		return e.Cell, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrNotLoaded, k.Text())
}

// changeSelf is change for the state of the session itself.
func (s *State) changeSelf() (*Cell, *Condition, error) {
	c, err := s.change(&Self)
	if err != nil {
		return nil, nil, err
	}
	now := c.self()
	c.Self = &now
	return c, c.Self, nil
}
