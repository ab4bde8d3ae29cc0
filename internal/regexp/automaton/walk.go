package automaton

import (
	"slices"
	"unicode/utf8"
)

// Walker is a deterministic automaton that is walked code point by code point. It
// may build its states while it is walked, and then belongs to one goroutine.
type Walker interface {
	// First is the state before any text.
	First() uint32
	// Next is the state after one more code point.
	Next(state uint32, r rune) uint32
	// Accepting reports whether a text that ends in a state is in the set.
	Accepting(state uint32) bool
	// Fate is the answer that all continuations from a state share, if they do.
	Fate(state uint32) Fate
	// Cuts returns the code points at which a class begins: those from one cut up to
	// the next lead every state to the same one. They are sorted, and the first is 0.
	Cuts() []rune
}

var _ Walker = (*DFA)(nil)

// Next returns the state after one more code point.
func (a *DFA) Next(state uint32, r rune) uint32 { return a.step(state, a.class(r)) }

// Cuts returns the code points at which a class of the automaton begins.
func (a *DFA) Cuts() []rune {
	cuts := []rune{0, utf8.RuneSelf}
	for r := rune(1); r < utf8.RuneSelf; r++ {
		if a.ascii[r] != a.ascii[r-1] {
			cuts = append(cuts, r)
		}
	}
	for _, s := range a.others {
		cuts = append(cuts, s.Low)
		if s.High < utf8.MaxRune {
			cuts = append(cuts, s.High+1)
		}
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}
