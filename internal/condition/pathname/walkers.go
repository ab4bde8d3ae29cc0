package pathname

import (
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

func (t *Test) Walkers() []automaton.Walker {
	built := t.automaton()
	a := built.language.DFA()
	if a == nil {
		return nil
	}
	if t.Env.Root == "" {
		return []automaton.Walker{a}
	}
	return []automaton.Walker{a, &rootWalker{a, built.atRoot, built.inRoot}}
}

// Rooted reads a path relative to the root and also after the root's own path.
func Rooted(a *automaton.DFA, root string) []automaton.Walker {
	if root == "" {
		return []automaton.Walker{a}
	}
	w := &rootWalker{DFA: a, at: a.After(a.First(), []byte(string(glob.Root)+root[1:]))}
	if w.in = w.at; root != "/" {
		w.in = a.After(w.at, []byte("/"))
	}
	return []automaton.Walker{a, w}
}

// rootWalker reads relative paths after the path of the root. Its first state, which no DFA has, is
// that of the root itself.
type rootWalker struct {
	*automaton.DFA
	at, in uint32
}

const rootState = 1<<32 - 2

func (w *rootWalker) First() uint32 { return rootState }

func (w *rootWalker) Next(state uint32, r rune) uint32 {
	switch {
	case state != rootState:
		return w.DFA.Next(state, r)
	case r == '/':
		return 0 // not a relative path
	}
	return w.DFA.Next(w.in, r)
}

func (w *rootWalker) Accepting(state uint32) bool {
	if state == rootState {
		state = w.at
	}
	return w.DFA.Accepting(state)
}

func (w *rootWalker) Fate(state uint32) automaton.Fate {
	if state == rootState {
		return automaton.Open
	}
	return w.DFA.Fate(state)
}

// Distance is how many code points at least lead to an accepted path.
func (w *rootWalker) Distance(state uint32) int {
	switch {
	case state != rootState:
		return w.DFA.Distance(state)
	case w.Accepting(state):
		return 0
	}
	return w.DFA.Distance(w.in)
}

func (w *rootWalker) Cuts() []rune { return append([]rune{0, '/', '/' + 1}, w.DFA.Cuts()...) }

// CanonicalPaths accepts the canonical forms of paths that do not climb: relative ones and, on
// request, absolute ones.
func CanonicalPaths(absolute bool) *automaton.DFA {
	n := automaton.New()
	n.Accept(0)
	begin, dot, dots, name := n.State(), n.State(), n.State(), n.State()
	n.Free(0, begin)
	if absolute {
		slash := n.Text(0, "/")
		n.Accept(slash)
		n.Free(slash, begin)
	}
	written := glob.Component.Minus(automaton.Single('.'))
	n.Edge(begin, automaton.Single('.'), dot)
	n.Edge(begin, written, name)
	n.Edge(dot, automaton.Single('.'), dots)
	n.Edge(dot, written, name)
	n.Edge(dots, glob.Component, name)
	n.Edge(name, glob.Component, name)
	n.Edge(name, automaton.Single('/'), begin)
	n.Accept(name)
	return n.Compile().DFA()
}
