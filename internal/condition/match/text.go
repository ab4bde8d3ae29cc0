package match

import (
	"errors"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/patch"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// languageTest evaluates a text by membership in a set.
type languageTest struct{ *automaton.Language }

func (t languageTest) holds(text []byte) bool { return t.Accepts(text) }

// compileString compiles a matcher on a plain string. The language of a restrictive one is its
// preimage under the forms of K21, so that one automaton run tests all three.
func compileString(s condition.Spec, restrictive bool) (condition.TextTest, *condition.SpecError) {
	if s.Kind == condition.Pattern {
		test, err := compilePatterns(s)
		if err != nil {
			return nil, err
		}
		return newPatternText(test, restrictive), nil
	}
	n, err := stringLanguage(s)
	if err != nil {
		return nil, err
	}
	build := func() *automaton.Language {
		if restrictive {
			n = underForms(n.Direct())
		}
		return n.Compile()
	}
	if (s.Kind == condition.Const || s.Kind == condition.Enum || s.Kind == condition.Prefix) && n.Len() < 1<<14 { // never too large
		return &stepText{dfa: sync.OnceValue(func() *automaton.DFA { return build().DFA() })}, nil
	}
	l := build()
	if l.DFA() == nil {
		return slowText{l}, nil
	}
	return &stepText{dfa: l.DFA}, nil
}

// stringLanguage returns the set of strings of a condition, as written.
func stringLanguage(s condition.Spec) (*automaton.NFA, *condition.SpecError) {
	n := automaton.New()
	for i, lit := range s.Values {
		if err := addString(n, s.Kind, lit.Text); err != nil {
			err.Index = i
			return nil, err
		}
	}
	return n, nil
}

// addString adds the strings of one literal.
func addString(n *automaton.NFA, k condition.Kind, text string) *condition.SpecError {
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
		return ofGlob(err)
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

// underForms returns the language of all strings with one of K21's three forms in n: the string,
// the string without zero-width code points, and that without leading and trailing white space. n
// is direct.
func underForms(n *automaton.NFA) *automaton.NFA {
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

// stepText evaluates a string with an automaton, code point by code point. It is built on demand:
// conditions that an index evaluates never need it.
type stepText struct{ dfa func() *automaton.DFA }

func (t *stepText) Start(s *condition.State) condition.Result {
	dfa := t.dfa()
	s.At = dfa.First()
	return condition.Result(dfa.Fate(s.At))
}

func (t *stepText) Feed(s *condition.State, text []byte) (condition.Result, int) {
	dfa := t.dfa()
	at, n := dfa.Feed(s.At, text)
	s.At = at
	return condition.Result(dfa.Fate(at)), n
}

func (t *stepText) End(s *condition.State) bool { return t.dfa().Accepting(s.At) }

func (t *stepText) Match(value []byte) bool {
	dfa := t.dfa()
	return dfa.Accepting(dfa.After(dfa.First(), value))
}

// slowText evaluates complete strings only: its automaton would be too large.
type slowText struct{ language *automaton.Language }

func (t slowText) Match(value []byte) bool { return t.language.Accepts(value) }

// patternText evaluates patterns on a string, code point by code point: on the value itself, or on
// any of its forms for restrictive conditions (K20, K21). Its automaton is built on demand.
type patternText struct {
	test     spellingTest
	plain    *regular.Language // of the value itself
	language *regular.Language // also of its additional forms
	machine  func() *regular.Automaton
}

func newPatternText(p patterns, restrictive bool) *patternText {
	plain := p.language()
	l := plain
	if restrictive {
		bare := l.Without(spelling.ZeroWidth)
		l = regular.Union(l, bare, bare.Trimmed(spelling.WhiteSpace))
	}
	return &patternText{test: p, plain: plain, language: l, machine: sync.OnceValue(func() *regular.Automaton { return regular.Join(l) })}
}

func (t *patternText) Start(s *condition.State) condition.Result {
	m := t.machine()
	s.Machine = m.Start()
	return condition.Result(m.Fate(&s.Machine, 0))
}

func (t *patternText) Feed(s *condition.State, text []byte) (condition.Result, int) {
	m := t.machine()
	n, _ := m.Feed(&s.Machine, text)
	return condition.Result(m.Fate(&s.Machine, 0)), n
}

func (t *patternText) End(s *condition.State) bool { return t.machine().Accepts(&s.Machine, 0) }

func (t *patternText) Match(value []byte) bool {
	m := t.machine()
	s := m.Start()
	feedAll(m, &s, value)
	return m.Accepts(&s, 0)
}

// patterns matches any of several patterns.
type patterns []*regular.Pattern

func compilePatterns(s condition.Spec) (patterns, *condition.SpecError) {
	var out patterns
	for i, lit := range s.Values {
		p, err := regular.Compile(lit.Text)
		if err != nil {
			return nil, patternError(i, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func patternError(index int, err error) *condition.SpecError {
	e := condition.Invalid(index, err.Error(), "")
	var syntax *regular.SyntaxError
	if errors.As(err, &syntax) {
		e.Offset, e.Message, e.Hint = syntax.Offset, syntax.Message, syntax.Hint
	}
	return e
}

func (p patterns) holds(text []byte) bool {
	return slices.ContainsFunc(p, func(one *regular.Pattern) bool { return one.Match(text) })
}

// lengthTest is max_length on a string: the number of code points, of the shortest form for a
// restrictive condition.
type lengthTest struct {
	most        int
	restrictive bool
}

func (t *lengthTest) Start(*condition.State) condition.Result { return condition.Undecided }

func (t *lengthTest) Feed(s *condition.State, text []byte) (condition.Result, int) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case !t.restrictive:
			s.At++
		case r >= utf8.RuneSelf && spelling.ZeroWidth.Contains(r):
		case spelling.IsWhite(r):
			if s.At > 0 {
				s.Tail++
			}
		default:
			s.At += s.Tail + 1
			s.Tail = 0
		}
		if int64(s.At) > int64(t.most) {
			return condition.Miss, i
		}
	}
	return condition.Undecided, len(text)
}

func (t *lengthTest) End(*condition.State) bool { return true }

func (t *lengthTest) Match(value []byte) bool { return t.holds(value) }

func (t *lengthTest) holds(text []byte) bool {
	var s condition.State
	r, _ := t.Feed(&s, text)
	return r == condition.Undecided
}

// compileLength compiles max_length. For values that are evaluated as a whole a permissive
// condition holds for a plainly written value only.
func compileLength(most int, t condition.Target, restrictive bool, env condition.Env) condition.TextTest {
	length := lengthTest{most: most, restrictive: restrictive}
	switch t.Annotation {
	case schema.Path:
		p := newPathContext(env, t.Expands, restrictive)
		return &completeLength{length, p.plain}
	case schema.Command:
		return &completeLength{length, func(line []byte) bool {
			var v Value
			v.Reset(line)
			return v.Analysable(false)
		}}
	case schema.URL:
		return &completeLength{length, isPlainURL}
	case schema.Patch:
		return &completeLength{length, func(text []byte) bool { _, ok := patch.Files(string(text)); return ok }}
	}
	return &length
}

type completeLength struct {
	length lengthTest
	plain  func([]byte) bool
}

func (t *completeLength) Match(value []byte) bool {
	return t.length.holds(value) && (t.length.restrictive || t.plain(value))
}
