package plaintext

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// LanguageTest evaluates a text by globs or suffixes. Their automaton is built for the first text that
// begins, or ends, as one of them does.
type LanguageTest struct {
	spec     condition.Spec
	once     sync.Once
	language *automaton.Language
}

// NewLanguageTest checks a condition of kind glob or suffix.
func NewLanguageTest(s condition.Spec) (*LanguageTest, *condition.SpecError) {
	plain := func(lit condition.Literal) bool { return s.Kind == condition.Glob && ValidGlob(lit.Text) }
	for i := range s.Values {
		if plain(s.Values[i]) {
			continue
		}
		if err := AddString(automaton.New(), s.Kind, s.Values[i].Text); err != nil {
			err.Index = i
			return nil, err
		}
	}
	return &LanguageTest{spec: s}, nil
}

func (t *LanguageTest) Holds(text []byte) bool {
	if !slices.ContainsFunc(t.spec.Values, func(lit condition.Literal) bool { return t.mayHold(lit.Text, text) }) {
		return false
	}
	t.once.Do(func() {
		n, _ := StringLanguage(t.spec) // without an error: see NewLanguageTest
		t.language = n.Compile()
	})
	return t.language.Accepts(text)
}

// mayHold reports whether a text begins, or ends, as one literal does.
func (t *LanguageTest) mayHold(literal string, text []byte) bool {
	if t.spec.Kind != condition.Glob {
		return bytes.HasSuffix(text, []byte(literal))
	}
	begin, _ := glob.Beginning(literal)
	return bytes.HasPrefix(text, []byte(begin))
}

// Compile compiles a matcher on a plain string. The language of a restrictive one is its
// preimage under the forms of K21, so that one automaton run tests all three.
func Compile(s condition.Spec, restrictive bool) (condition.TextTest, *condition.SpecError) {
	if s.Kind == condition.Pattern {
		test, err := CompilePatterns(s)
		if err != nil {
			return nil, err
		}
		return newPatternText(test, restrictive), nil
	}
	n, err := StringLanguage(s)
	if err != nil {
		return nil, err
	}
	build := func() *automaton.Language {
		if restrictive {
			n = UnderForms(n.Direct())
		}
		return n.Compile()
	}
	if comparesBeginnings(s) && n.Len() < 1<<14 { // never too large
		return &StepText{Dfa: sync.OnceValue(func() *automaton.DFA { return build().DFA() })}, nil
	}
	l := build()
	if l.DFA() == nil {
		return slowText{l}, nil
	}
	return &StepText{Dfa: l.DFA}, nil
}

// comparesBeginnings reports whether a condition compares strings with texts, or their beginnings.
func comparesBeginnings(s condition.Spec) bool {
	switch s.Kind {
	case condition.Const, condition.Enum, condition.Prefix:
		return true
	case condition.Glob:
		return !slices.ContainsFunc(s.Values, func(lit condition.Literal) bool { _, _, ok := Beginning(lit.Text); return !ok })
	}
	return false
}

// Beginning returns the text that all strings equal that a glob matches or, if below is set, the one
// that they begin with; ok is false if the glob compares more than that, or the text is empty.
func Beginning(text string) (literal string, below, ok bool) {
	literal, rest := glob.Beginning(text)
	return literal, rest == "*", literal != "" && (rest == "" || rest == "*")
}

// ValidGlob reports whether a glob on strings is plain and certainly valid; see [glob.Plain].
func ValidGlob(text string) bool { return glob.Plain(text) && !strings.Contains(text, "**") }

// StringLanguage returns the set of strings of a condition, as written.
func StringLanguage(s condition.Spec) (*automaton.NFA, *condition.SpecError) {
	n := automaton.New()
	for i, lit := range s.Values {
		if err := AddString(n, s.Kind, lit.Text); err != nil {
			err.Index = i
			return nil, err
		}
	}
	return n, nil
}

// AddString adds the strings of one literal.
func AddString(n *automaton.NFA, k condition.Kind, text string) *condition.SpecError {
	switch k {
	case condition.Const, condition.Enum:
		n.Accept(n.Text(0, text))
		return nil
	case condition.Glob:
		return addStringGlob(n, text)
	case condition.Prefix:
		n.Accept(n.Loop(n.Text(0, text), automaton.Any))
	default:
		n.Accept(n.Text(n.Loop(0, automaton.Any), text))
	}
	if text == "" {
		return condition.Invalid(0, "is empty, so the condition always matches", "leave the condition out")
	}
	return nil
}

// addStringGlob adds a glob without separators: "*" is any run (K18).
func addStringGlob(n *automaton.NFA, text string) *condition.SpecError {
	lists, err := glob.Parse(text, false)
	if err != nil {
		return OfGlob(err)
	}
	for _, tokens := range lists {
		for i := 1; i < len(tokens); i++ {
			if tokens[i].Kind == glob.Star && tokens[i-1].Kind == glob.Star {
				return &condition.SpecError{Offset: tokens[i-1].At, Message: `"**" has a meaning on paths only`, Hint: "`*` is any run of a string"}
			}
		}
		n.Accept(glob.Add(n, 0, tokens, automaton.Any, nil))
	}
	return nil
}

// UnderForms returns the language of all strings with one of K21's three forms in n: the string,
// the string without zero-width code points, and that without leading and trailing white space. n
// is direct.
func UnderForms(n *automaton.NFA) *automaton.NFA {
	blank := spelling.ZeroWidth.Union(spelling.WhiteSpace)
	size := n.Len()
	raw, stripped, inside := 1, 1+size, 1+2*size // starts of the copies of n
	lead, tail := 1+3*size, 2+3*size
	out := automaton.New()
	for out.Len() < 3+3*size {
		out.State()
	}
	out.Free(0, raw)
	out.Free(0, stripped)
	out.Free(0, lead)
	out.Edge(lead, blank, lead)
	out.Edge(tail, blank, tail)
	out.Accept(tail)
	type parts struct{ visible, inked automaton.Set }
	known := make(map[*automaton.Span]parts) // of the sets of n
	for s := range size {
		if n.Accepting(s) {
			out.Accept(raw + s)
			out.Accept(stripped + s)
		}
		out.Edge(stripped+s, spelling.ZeroWidth, stripped+s)
		out.Edge(inside+s, spelling.ZeroWidth, inside+s)
		for set, to := range n.Edges(s) {
			p, ok := known[&set[0]]
			if !ok {
				p = parts{visible: set.Minus(spelling.ZeroWidth), inked: set.Minus(blank)}
				known[&set[0]] = p
			}
			out.Edge(raw+s, set, raw+to)
			out.Edge(stripped+s, p.visible, stripped+to)
			out.Edge(inside+s, p.visible, inside+to)
			if s == 0 { // the first code point of the trimmed form
				out.Edge(lead, p.inked, inside+to)
			}
			if !n.Accepting(to) {
				continue
			}
			out.Edge(inside+s, p.inked, tail) // its last one
			if s == 0 {
				out.Edge(lead, p.inked, tail)
			}
		}
	}
	if n.Accepting(0) {
		out.Accept(lead)
	}
	return out
}

// StepText evaluates a string with an automaton, code point by code point. It is built on demand:
// conditions that an index evaluates never need it.
type StepText struct{ Dfa func() *automaton.DFA }

func (t *StepText) Start(s *condition.State) condition.Result {
	dfa := t.Dfa()
	s.At = dfa.First()
	return condition.Result(dfa.Fate(s.At))
}

func (t *StepText) Feed(s *condition.State, text []byte) (condition.Result, int) {
	dfa := t.Dfa()
	at, n := dfa.Feed(s.At, text)
	s.At = at
	return condition.Result(dfa.Fate(at)), n
}

func (t *StepText) End(s *condition.State) bool { return t.Dfa().Accepting(s.At) }

func (t *StepText) Match(value []byte) bool {
	dfa := t.Dfa()
	return dfa.Accepting(dfa.After(dfa.First(), value))
}

// slowText evaluates complete strings only: its automaton would be too large.
type slowText struct{ language *automaton.Language }

func (t slowText) Match(value []byte) bool { return t.language.Accepts(value) }

// SpellingTest evaluates one spelling of a complete value.
type SpellingTest interface{ Holds(text []byte) bool }

// FeedAll feeds a complete text to an automaton.
func FeedAll(a *regular.Automaton, s *regular.State, text []byte) {
	for len(text) > 0 {
		n, changed := a.Feed(s, text)
		if !changed {
			return // all of it was read, or nothing more can match
		}
		text = text[n:]
	}
}

// Holding appends the members whose language contains the text that an automaton was fed, taken as
// complete; names maps the automaton's members.
func Holding(a *regular.Automaton, s *regular.State, names, members []int32) []int32 {
	rejected := a.Rejected(s)
	for word := 0; 64*word < len(names); word++ {
		for left := ^rejected[word]; left != 0; left &= left - 1 {
			i := 64*word + bits.TrailingZeros64(left)
			if i >= len(names) {
				break
			}
			if a.Accepts(s, i) {
				members = append(members, names[i])
			}
		}
	}
	return members
}
