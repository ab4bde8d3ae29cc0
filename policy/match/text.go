package match

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/regular"
	"github.com/stopgate/stopgate/schema"
)

// language judges texts by an automaton, or by its nfa where that would be too
// large.
type language struct {
	dfa *automaton
	nfa *nfa // only if dfa is nil
}

func newLanguage(n *nfa) *language {
	d := n.direct()
	if dfa := d.determinise(); dfa != nil {
		return &language{dfa: dfa}
	}
	return &language{nfa: d}
}

func (l *language) holds(text []byte) bool { return l.accepts(text) }

func (l *language) accepts(text []byte) bool {
	if l.dfa != nil {
		return l.dfa.accept[l.dfa.after(l.dfa.first, text)]
	}
	return l.nfa.matches(string(text))
}

// compileString compiles a matcher on a plain string. The language of a
// restrictive one is its preimage under the forms of K21, so that one automaton
// run tests all three.
func compileString(s Spec, restrictive bool) (textTest, *SpecError) {
	if s.Kind == Pattern {
		test, err := compilePatterns(s)
		return &patternText{test: test, restrictive: restrictive}, err
	}
	n, err := stringLanguage(s)
	if err != nil {
		return nil, err
	}
	if restrictive {
		n = n.direct().underForms()
	}
	l := newLanguage(n)
	if l.dfa == nil {
		return slowText{l}, nil
	}
	return &stepText{l.dfa}, nil
}

// stringLanguage is the set of strings a condition names, as it is written.
func stringLanguage(s Spec) (*nfa, *SpecError) {
	n := newNFA()
	for i, lit := range s.Values {
		if err := n.addString(s.Kind, lit.Text); err != nil {
			err.Index = i
			return nil, err
		}
	}
	return n, nil
}

// addString adds the strings that one literal names.
func (n *nfa) addString(k Kind, text string) *SpecError {
	switch k {
	case Const, Enum:
		n.accept(n.text(0, text))
		return nil
	case Glob:
		return n.addStringGlob(text)
	case Prefix:
		n.accept(n.loop(n.text(0, text), anyRune))
	default:
		n.accept(n.text(n.loop(0, anyRune), text))
	}
	if text == "" {
		return whole(0, "is empty, so the condition always matches", "leave the condition out")
	}
	return nil
}

// addStringGlob adds a glob without separators: "*" is any run (K18).
func (n *nfa) addStringGlob(text string) *SpecError {
	lists, err := parseGlob(text, false)
	if err != nil {
		return err
	}
	for _, tokens := range lists {
		for i := 1; i < len(tokens); i++ {
			if tokens[i].kind == globStar && tokens[i-1].kind == globStar {
				return &SpecError{Offset: tokens[i-1].at, Message: `"**" has a meaning on paths only`, Hint: "`*` is any run of a string"}
			}
		}
		n.accept(n.addRun(0, tokens, anyRune, false))
	}
	return nil
}

// underForms returns the language of all strings of which one of K21's three
// forms is in n: the string, the string without zero-width code points, and that
// without leading and trailing white space. n is direct.
func (n *nfa) underForms() *nfa {
	blank := zeroWidth.union(whiteSpace)
	visible, inked := make([]runeSet, len(n.sets)), make([]runeSet, len(n.sets)) // of each set
	for i, set := range n.sets {
		visible[i], inked[i] = set.minus(zeroWidth), set.minus(blank)
	}
	size := len(n.states)
	raw, stripped, inside := 1, 1+size, 1+2*size // where the copies of n begin
	lead, tail := 1+3*size, 2+3*size
	out := newNFA()
	for len(out.states) < 3+3*size {
		out.state()
	}
	out.states[0].free = []int{raw, stripped, lead}
	out.edge(lead, blank, lead)
	out.edge(tail, blank, tail)
	out.accept(tail)
	for s, state := range n.states {
		out.states[raw+s].accept = state.accept
		out.states[stripped+s].accept = state.accept
		out.edge(stripped+s, zeroWidth, stripped+s)
		out.edge(inside+s, zeroWidth, inside+s)
		for _, e := range state.edges {
			out.edge(raw+s, n.sets[e.set], raw+e.to)
			out.edge(stripped+s, visible[e.set], stripped+e.to)
			out.edge(inside+s, visible[e.set], inside+e.to)
			first := inked[e.set]
			if n.states[e.to].accept { // the last code point of the trimmed form
				out.edge(inside+s, first, tail)
			}
			if s == 0 { // its first one
				out.edge(lead, first, inside+e.to)
				if n.states[e.to].accept {
					out.edge(lead, first, tail)
				}
			}
		}
	}
	if n.states[0].accept {
		out.accept(lead)
	}
	return out
}

// stepText judges a string with an automaton, code point by code point.
type stepText struct{ dfa *automaton }

func (t *stepText) start(s *State) Result {
	s.at = t.dfa.first
	return t.dfa.fate[s.at]
}

func (t *stepText) feed(s *State, text []byte) (Result, int) {
	at, n := t.dfa.feed(s.at, text)
	s.at = at
	return t.dfa.fate[at], n
}

func (t *stepText) end(s *State) bool { return t.dfa.accept[s.at] }

func (t *stepText) match(value []byte) bool {
	return t.dfa.accept[t.dfa.after(t.dfa.first, value)]
}

// slowText judges complete strings only: its automaton would be too large.
type slowText struct{ language *language }

func (t slowText) match(value []byte) bool { return t.language.accepts(value) }

// patternText judges a complete string by a pattern: the value itself, or any
// form of it for suspicion (K20, K21).
type patternText struct {
	test        wholeTest
	restrictive bool
}

func (t *patternText) match(value []byte) bool {
	if t.test.holds(value) {
		return true
	}
	return t.restrictive && slices.ContainsFunc(forms(string(value)), func(f string) bool { return t.test.holds([]byte(f)) })
}

// patterns is any of several patterns.
type patterns []*regular.Pattern

func compilePatterns(s Spec) (patterns, *SpecError) {
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

func patternError(index int, err error) *SpecError {
	e := whole(index, err.Error(), "")
	var syntax *regular.SyntaxError
	if errors.As(err, &syntax) {
		e.Offset, e.Message, e.Hint = syntax.Offset, syntax.Message, syntax.Hint
	}
	return e
}

func (p patterns) holds(text []byte) bool {
	return slices.ContainsFunc(p, func(one *regular.Pattern) bool { return one.Match(text) })
}

// lengthTest is max_length on a string: code points, of the shortest form for a
// restrictive condition.
type lengthTest struct {
	most        int
	restrictive bool
}

func (t *lengthTest) start(*State) Result { return Undecided }

func (t *lengthTest) feed(s *State, text []byte) (Result, int) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case !t.restrictive:
			s.at++
		case r >= utf8.RuneSelf && zeroWidth.contains(r):
		case isWhite(r):
			if s.at > 0 {
				s.tail++
			}
		default:
			s.at += s.tail + 1
			s.tail = 0
		}
		if int64(s.at) > int64(t.most) {
			return Miss, i
		}
	}
	return Undecided, len(text)
}

func (t *lengthTest) end(*State) bool { return true }

func (t *lengthTest) match(value []byte) bool { return t.holds(value) }

func (t *lengthTest) holds(text []byte) bool {
	var s State
	r, _ := t.feed(&s, text)
	return r == Undecided
}

// compileLength is max_length. On what is judged as a whole a permissive
// condition holds for a plainly written value only.
func compileLength(most int, t Target, restrictive bool, env Env) textTest {
	length := lengthTest{most: most, restrictive: restrictive}
	switch t.Annotation {
	case schema.Path:
		p := newPlace(env, t.Expands, restrictive)
		return &wholeLength{length, p.plain}
	case schema.Command:
		return &wholeLength{length, isPlainLine}
	case schema.URL:
		return &wholeLength{length, isPlainURL}
	}
	return &length
}

type wholeLength struct {
	length lengthTest
	plain  func([]byte) bool
}

func (t *wholeLength) match(value []byte) bool {
	return t.length.holds(value) && (t.length.restrictive || t.plain(value))
}

func isWhite(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || '\t' <= r && r <= '\r'
	}
	return whiteSpace.contains(r)
}

// forms returns the further forms of a string that a restrictive condition tests:
// without zero-width code points, and that trimmed (K21).
func forms(value string) []string {
	seen := strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && zeroWidth.contains(r) {
			return -1
		}
		return r
	}, value)
	return []string{seen, strings.TrimFunc(seen, isWhite)}
}
