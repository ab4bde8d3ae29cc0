package pathname

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// PathStates are the paths that literals match. Their automata are built on demand: conditions that
// an index evaluates never need them. The first few values, which is all that a process for one
// call evaluates, are searched for the names that every path of a literal contains, and if one is
// found the states of that literal are walked; later the automaton of all literals is built.
type PathStates struct {
	Nfa    func() *automaton.NFA
	direct func() *automaton.NFA // without free edges
	parts  func() []pathPart
	once   sync.Once
	built  pathAutomaton
	walked walkedBytes
	known  memo
}

// pathPart is one literal.
type pathPart struct {
	name   string                // part of every path that the literal matches, without a separator; empty if there is none
	direct func() *automaton.NFA // without free edges
}

// NewPathStates returns the states of the literals that read returns.
func NewPathStates(b Builder, read func() []Literal) *PathStates {
	read = sync.OnceValue(read)
	s := newSinglePart(func() *automaton.NFA { return b.states(read()...) })
	s.parts = sync.OnceValue(func() []pathPart {
		list := read()
		parts := make([]pathPart, len(list))
		for i := range list {
			parts[i] = pathPart{list[i].name(b.Folded), sync.OnceValue(func() *automaton.NFA { return b.states(list[i]).Direct() })}
		}
		return parts
	})
	return s
}

// newSinglePart returns states that are walked together.
func newSinglePart(build func() *automaton.NFA) *PathStates {
	s := &PathStates{Nfa: sync.OnceValue(build)}
	s.direct = sync.OnceValue(func() *automaton.NFA { return s.Nfa().Direct() })
	s.parts = func() []pathPart { return []pathPart{{direct: s.direct}} }
	return s
}

// states returns the states of some literals, with a new builder.
func (b Builder) states(list ...Literal) *automaton.NFA {
	b.NFA = automaton.New()
	b.addAll(list)
	return b.NFA
}

// walkedBytes counts the bytes that were walked.
type walkedBytes struct{ n atomic.Int64 }

// Building an automaton costs about as much as walking this many bytes; a value has a constant cost
// in addition.
const (
	walkedEnough = 1 << 9
	walkedValue  = 1 << 4
)

// more counts a text, and returns false once building an automaton is cheaper.
func (w *walkedBytes) more(text []byte) bool {
	return w.n.Load() < walkedEnough && w.n.Add(int64(len(text)+walkedValue)) <= walkedEnough
}

// walk reports whether the states accept a text.
func (s *PathStates) walk(text []byte) bool {
	return slices.ContainsFunc(s.parts(), func(p pathPart) bool {
		return bytes.Contains(text, []byte(p.name)) && p.direct().Matches(string(text))
	})
}

// walkBelow is walk for a path below the root; root is the input of automata for the root.
func (s *PathStates) walkBelow(root, rel []byte) bool { return s.walk(pathform.Joined(root, rel)) }

// name returns the longest text between separators that is part of every path that the literal
// matches, empty if there is none.
func (lit *Literal) name(folded bool) (longest string) {
	longer := func(text string) {
		if folded {
			text = spelling.Fold(text)
		}
		text = text[strings.LastIndexByte(text, '/')+1:] // folding produces separators too
		// Invalid UTF-8 is read as U+FFFD.
		if len(text) > len(longest) && !strings.ContainsRune(text, utf8.RuneError) {
			longest = text
		}
	}
	if lit.suffix != "" {
		longer(lit.suffix)
		return longest
	}
	climbing := true
	for _, tokens := range lit.Components {
		if climbing = climbing && isText(tokens, ".."); climbing {
			continue // replaced by the root
		}
		for len(tokens) > 0 {
			text, n := glob.LiteralRun(tokens)
			longer(text)
			tokens = tokens[max(n, 1):]
		}
	}
	return longest
}
