package analysis

import (
	"encoding/binary"
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// combined walks several automata at once and accepts the texts that one of them accepts, or
// those that all accept. Its states are made while it is walked.
type combined struct {
	parts  []automaton.Walker
	all    bool
	ids    map[string]uint32
	states [][]uint32
	steps  map[step]uint32
	cuts   []rune
	key    []byte
	next   []uint32
}

// step is a state and a code point.
type step struct {
	state uint32
	r     rune
}

var _ automaton.Walker = (*combined)(nil)

func newCombined(parts []automaton.Walker, all bool) *combined {
	c := &combined{parts: parts, all: all, ids: make(map[string]uint32), steps: make(map[step]uint32),
		key: make([]byte, 4*len(parts)), next: make([]uint32, len(parts))}
	for _, w := range parts {
		c.cuts = append(c.cuts, w.Cuts()...)
	}
	slices.Sort(c.cuts)
	c.cuts = slices.Compact(c.cuts)
	return c
}

// union accepts the texts that one of some automata accepts.
func union(parts []automaton.Walker) automaton.Walker {
	switch len(parts) {
	case 0:
		return newTrie(false) // no text at all
	case 1:
		return parts[0]
	}
	return newCombined(parts, false)
}

func (c *combined) First() uint32 {
	for i, w := range c.parts {
		c.next[i] = w.First()
	}
	return c.id()
}

// id numbers the state that was made last.
func (c *combined) id() uint32 {
	for i, s := range c.next {
		binary.LittleEndian.PutUint32(c.key[4*i:], s)
	}
	id, ok := c.ids[string(c.key)]
	if !ok {
		id = uint32(len(c.states))
		c.ids[string(c.key)] = id
		c.states = append(c.states, slices.Clone(c.next))
	}
	return id
}

// Next takes code points of one class to one state: r is any of them.
func (c *combined) Next(state uint32, r rune) uint32 {
	at, ok := c.steps[step{state, r}]
	if !ok {
		for i, w := range c.parts {
			c.next[i] = w.Next(c.states[state][i], r)
		}
		at = c.id()
		c.steps[step{state, r}] = at
	}
	return at
}

func (c *combined) Accepting(state uint32) bool {
	for i, w := range c.parts {
		if w.Accepting(c.states[state][i]) != c.all {
			return !c.all
		}
	}
	return c.all
}

func (c *combined) Fate(state uint32) automaton.Fate {
	ends, other := automaton.Accepts, automaton.Rejects // if one part ends so, and if all do
	if c.all {
		ends, other = other, ends
	}
	fate := other
	for i, w := range c.parts {
		switch w.Fate(c.states[state][i]) {
		case ends:
			return ends
		case automaton.Open:
			fate = automaton.Open
		}
	}
	return fate
}

func (c *combined) Cuts() []rune { return c.cuts }

// Distance is how many code points at least lead from a state to acceptance, as far as the
// parts know.
func (c *combined) Distance(state uint32) int {
	least, most := automaton.Unreachable, 0
	for i, w := range c.parts {
		d := distance(w, c.states[state][i])
		least, most = min(least, d), max(most, d)
	}
	if c.all {
		return most
	}
	return least
}

// distance is how many code points at least lead from a state of a walker to acceptance: 0
// if that is not known.
func distance(w automaton.Walker, state uint32) int {
	if m, ok := w.(automaton.Measured); ok {
		return m.Distance(state)
	}
	return 0
}
