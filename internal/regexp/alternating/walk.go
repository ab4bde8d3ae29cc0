package alternating

import (
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Walk walks the set of one member code point by code point, for products of
// automata. Its states are all made beforehand, and their fates are known.
type Walk struct {
	program *Program
	graph   *graph
}

var _ automaton.Walker = (*Walk)(nil)

// Walk returns the walk of member 0, nil if the program has too many states for it.
func (p *Program) Walk() *Walk {
	g := p.explore(Limits{}.normal())
	if g == nil {
		return nil
	}
	return &Walk{p, g}
}

// First returns the state before any text.
func (w *Walk) First() uint32 { return 0 }

// Next returns the state after one more code point.
func (w *Walk) Next(state uint32, r rune) uint32 {
	return uint32(w.graph.vertices[state].next[w.program.alphabet.class(r)])
}

// Accepting reports whether a text that ends in a state is in the set.
func (w *Walk) Accepting(state uint32) bool { return w.graph.vertices[state].ends[0]&1 != 0 }

// Fate returns the answer that all continuations share, if they do.
func (w *Walk) Fate(state uint32) automaton.Fate {
	switch v := &w.graph.vertices[state]; {
	case v.accepted[0]&1 != 0:
		return automaton.Accepts
	case v.rejected[0]&1 != 0:
		return automaton.Rejects
	}
	return automaton.Open
}

// Cuts returns the code points at which a class begins.
func (w *Walk) Cuts() []rune {
	cuts := []rune{0}
	for _, s := range w.program.alphabet.spans {
		cuts = append(cuts, s.Low)
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}
