package plaintext

import (
	"errors"
	"slices"
	"sync"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// PatternText evaluates patterns on a string, code point by code point: on the value itself, or on
// any of its forms for restrictive conditions (K20, K21). Its automaton is built on demand.
type PatternText struct {
	Test     SpellingTest
	Plain    *regular.Language // of the value itself
	Language *regular.Language // also of its additional forms
	machine  func() *regular.Automaton
}

func newPatternText(p Patterns, restrictive bool) *PatternText {
	plain := p.Language()
	l := plain
	if restrictive {
		bare := l.Without(spelling.ZeroWidth)
		l = regular.Union(l, bare, bare.Trimmed(spelling.WhiteSpace))
	}
	return &PatternText{Test: p, Plain: plain, Language: l, machine: sync.OnceValue(func() *regular.Automaton { return regular.Join(l) })}
}

func (t *PatternText) Start(s *condition.State) condition.Result {
	m := t.machine()
	s.Machine = m.Start()
	return condition.Result(m.Fate(&s.Machine, 0))
}

func (t *PatternText) Feed(s *condition.State, text []byte) (condition.Result, int) {
	m := t.machine()
	n, _ := m.Feed(&s.Machine, text)
	return condition.Result(m.Fate(&s.Machine, 0)), n
}

func (t *PatternText) End(s *condition.State) bool { return t.machine().Accepts(&s.Machine, 0) }

func (t *PatternText) Match(value []byte) bool {
	m := t.machine()
	s := m.Start()
	FeedAll(m, &s, value)
	return m.Accepts(&s, 0)
}

// Patterns matches any of several patterns.
type Patterns []*regular.Pattern

// CompilePatterns compiles the patterns of a condition.
func CompilePatterns(s condition.Spec) (Patterns, *condition.SpecError) {
	var out Patterns
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

func (p Patterns) Holds(text []byte) bool {
	return slices.ContainsFunc(p, func(one *regular.Pattern) bool { return one.Match(text) })
}

// Language returns the union of the patterns.
func (p Patterns) Language() *regular.Language {
	var all []*regular.Language
	for _, one := range p {
		all = append(all, one.Language())
	}
	return regular.Union(all...)
}
