package match

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// pathStates are the paths that literals stand for. What finds them is made when values
// need it: conditions that an index answers never do. The first few values, which is all
// that a process for one call ever asks about, are looked through for the names that
// every path of a literal has, and those that have one walk the states of that literal; then
// the automaton of all of them is built.
type pathStates struct {
	nfa    func() *automaton.NFA
	direct func() *automaton.NFA // without free edges
	parts  func() []pathPart
	once   sync.Once
	built  pathAutomaton
	walked walkedBytes
}

// pathPart is one literal.
type pathPart struct {
	name   string                // in every path that the part holds, without a separator in it; empty for none
	direct func() *automaton.NFA // without free edges
}

// newPathStates makes the states of what read reads, as a builder without states does.
func newPathStates(b pathBuilder, read func() []pathLiteral) *pathStates {
	read = sync.OnceValue(read)
	s := newSinglePart(func() *automaton.NFA { return b.states(read()...) })
	s.parts = sync.OnceValue(func() []pathPart {
		list := read()
		parts := make([]pathPart, len(list))
		for i := range list {
			parts[i] = pathPart{list[i].name(b.folded), sync.OnceValue(func() *automaton.NFA { return b.states(list[i]).Direct() })}
		}
		return parts
	})
	return s
}

// newSinglePart makes states that are walked together.
func newSinglePart(build func() *automaton.NFA) *pathStates {
	s := &pathStates{nfa: sync.OnceValue(build)}
	s.direct = sync.OnceValue(func() *automaton.NFA { return s.nfa().Direct() })
	s.parts = func() []pathPart { return []pathPart{{direct: s.direct}} }
	return s
}

// states are those of some literals, by a builder of its own.
func (b pathBuilder) states(list ...pathLiteral) *automaton.NFA {
	b.NFA = automaton.New()
	b.addAll(list)
	return b.NFA
}

// walkedBytes is what was spent on walking.
type walkedBytes struct{ n atomic.Int64 }

// Building an automaton costs about as much as walking this many bytes; a value costs
// some beside its own.
const (
	walkedEnough = 1 << 9
	walkedValue  = 1 << 4
)

// more counts a text, and reports false when an automaton pays.
func (w *walkedBytes) more(text []byte) bool {
	return w.n.Load() < walkedEnough && w.n.Add(int64(len(text)+walkedValue)) <= walkedEnough
}

// walk reports whether the states hold a text.
func (s *pathStates) walk(text []byte) bool {
	return slices.ContainsFunc(s.parts(), func(p pathPart) bool {
		return bytes.Contains(text, []byte(p.name)) && p.direct().Matches(string(text))
	})
}

// walkBelow is walk for a path below the root, of which root is what automata read.
func (s *pathStates) walkBelow(root, rel []byte) bool { return s.walk(joined(root, rel)) }

// name is the longest text between separators that every path has which the literal stands
// for, empty if there is none.
func (lit *pathLiteral) name(folded bool) (longest string) {
	longer := func(text string) {
		if folded {
			text = fold(text)
		}
		text = text[strings.LastIndexByte(text, '/')+1:] // folding makes separators too
		// What is no UTF-8 is read as U+FFFD.
		if len(text) > len(longest) && !strings.ContainsRune(text, utf8.RuneError) {
			longest = text
		}
	}
	if lit.suffix != "" {
		longer(lit.suffix)
		return longest
	}
	climbing := true
	for _, tokens := range lit.components {
		if climbing = climbing && isText(tokens, ".."); climbing {
			continue // the root says where that is
		}
		for len(tokens) > 0 {
			text, n := glob.LiteralRun(tokens)
			longer(text)
			tokens = tokens[max(n, 1):]
		}
	}
	return longest
}
