package match

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/automaton"
	"github.com/stopgate/stopgate/policy/glob"
)

// pathStates are the paths that literals stand for. What finds them is made when values
// need it: conditions that an index answers never do. The first few values, which is all
// that a process for one call ever asks about, are looked through for the names that
// every such path has, and those that have one walk the states; then the automaton is
// built.
type pathStates struct {
	nfa    func() *automaton.NFA
	direct func() *automaton.NFA // without free edges
	names  func() *pathNames
	once   sync.Once
	built  pathAutomaton
	walked walkedBytes
}

// newPathStates makes the states of what read reads, as a builder without states does.
func newPathStates(b pathBuilder, read func() []pathLiteral) *pathStates {
	read = sync.OnceValue(read)
	nfa := sync.OnceValue(func() *automaton.NFA {
		b.NFA = automaton.New()
		b.addAll(read())
		return b.NFA
	})
	return &pathStates{
		nfa:    nfa,
		direct: sync.OnceValue(func() *automaton.NFA { return nfa().Direct() }),
		names:  sync.OnceValue(func() *pathNames { return newPathNames(&b, read()) }),
	}
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
	return s.names().in(text) && s.direct().Matches(string(text))
}

// walkBelow is walk for a path below the root, of which root is what automata read.
func (s *pathStates) walkBelow(root, rel []byte) bool {
	names := s.names()
	return (names.root || names.in(rel)) && s.direct().Matches(string(joined(root, rel)))
}

// pathNames are texts of which every path of a set has one, without a separator in it.
type pathNames struct {
	list []string // nil: some path has none
	root bool     // the path of the root has one
}

// in reports whether a text has one of the names.
func (n *pathNames) in(text []byte) bool {
	return n.list == nil || slices.ContainsFunc(n.list, func(name string) bool { return bytes.Contains(text, []byte(name)) })
}

func newPathNames(b *pathBuilder, list []pathLiteral) *pathNames {
	n := new(pathNames)
	for i := range list {
		name := list[i].name(b.folded)
		if name == "" {
			return &pathNames{root: true}
		}
		n.list = append(n.list, name)
	}
	slices.Sort(n.list)
	n.list = slices.Compact(n.list)
	root := b.env.Root
	if b.folded {
		root = fold(root)
	}
	n.root = n.in([]byte(root))
	return n
}

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
