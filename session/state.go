package session

import (
	"errors"
	"fmt"
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
}

// NewState returns the state of the given cells at a position. Every key that was
// asked for has to be there, with a zero cell if the store has none.
func NewState(head uint64, cells []Entry) State {
	return State{Head: head, cells: cells}
}

// Cell returns the cell of a key; ok is false if it was not loaded.
func (s State) Cell(k Key) (c *Cell, ok bool) {
	for i := range s.cells {
		if s.cells[i].Key == k {
			return s.cells[i].Cell, true
		}
	}
	return &zero, false
}

// zero is the cell that nothing is known of.
var zero Cell

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
// belong into the log.
func (s State) Append(facts []Fact) (State, []Fact, error) {
	numbered := make([]Fact, len(facts))
	for i, f := range facts {
		f.Seq = s.Head + 1
		numbered[i] = f
		next, err := Apply(s, f)
		if err != nil {
			return s, nil, err
		}
		s = next
	}
	return s, numbered, nil
}

// Mistakes of whoever keeps the state. None of them changes anything.
var (
	ErrNotLoaded = errors.New("session: a fact touches a cell that was not loaded")
	ErrOrder     = errors.New("session: the fact is not the next one")
	ErrUnknown   = errors.New("session: no released call has this proposal id, or it has ended")
)

// cell returns a copy of a cell to be changed.
func (s State) cell(k Key) (Cell, error) {
	c, ok := s.Cell(k)
	if !ok {
		return Cell{}, fmt.Errorf("%w: %s", ErrNotLoaded, k.Text())
	}
	return *c, nil
}

// with puts another cell in the place of one that was loaded, in a state whose list
// of cells nobody else has: see Apply.
func (s State) with(k Key, c Cell) State {
	for i := range s.cells {
		if s.cells[i].Key == k {
			s.cells[i] = Entry{Key: k, Cell: &c, Changed: true}
		}
	}
	return s
}
