package pathname

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Test evaluates the value of a path parameter, permissively or restrictively.
type Test struct {
	pathform.Context
	*PathStates
	// Aimed restricts the values with wildcards that match, nil for all.
	Aimed func(pattern string) bool
}

// pathAutomaton is the set of paths that a test matches.
type pathAutomaton struct {
	language *automaton.Language // canonical paths; folded ones if restrictive
	// rootText is the input of the automaton for the root: its path, with a mark instead of the
	// first "/". Only absolute literals continue after it, so that the names of the directories
	// above the project satisfy no relative one. atRoot and inRoot are the states after it, and
	// after it and a "/".
	rootText       []byte
	atRoot, inRoot uint32
}

// automaton returns the set of paths, built once.
func (t *Test) automaton() *pathAutomaton {
	t.once.Do(func() { t.built = buildPath(t.Nfa(), t.Context) })
	return &t.built
}

func buildPath(n *automaton.NFA, p pathform.Context) pathAutomaton {
	a := pathAutomaton{language: n.Compile()}
	a.rootText = p.RootText()
	if dfa := a.language.DFA(); dfa != nil {
		if p.Folded {
			dfa.FoldASCII()
		}
		a.atRoot = dfa.After(dfa.First(), a.rootText)
		a.inRoot = a.atRoot
		if p.Env.Root != "/" {
			a.inRoot = dfa.After(a.atRoot, []byte("/"))
		}
	}
	return a
}

func (t *Test) Match(value []byte) bool {
	var buf [256]byte
	canonical, info, plain := t.Examine(buf[:0], value)
	if plain && t.Admits(canonical, info, nil) {
		return t.Holds(canonical, info.High)
	}
	if !t.Restrictive {
		return false
	}
	list, unknown := pathform.ReadingsOf(string(value), t.Env, t.Expands, nil)
	return t.suspects(list, unknown)
}

func (t *Test) Judge(v *condition.Value) bool { return t.judgeFrom(pathform.Of(v), &t.Context) }

// judgeFrom evaluates a value in a context.
func (t *Test) judgeFrom(v *pathform.Value, p *pathform.Context) bool {
	if canonical, certain := v.Certain(p); certain {
		return t.Holds(canonical, v.Info.High)
	}
	if !t.Restrictive {
		return false
	}
	list, unknown := v.Readings(p)
	return t.suspects(list, unknown)
}

// suspects evaluates the readings of a value.
func (t *Test) suspects(list []pathform.Reading, unknown condition.Unknown) bool {
	for _, r := range list {
		if r.Glob && t.MayHold(r.Path) || !r.Glob && t.Holds([]byte(r.Path), true) {
			return true
		}
	}
	return unknown&condition.TooLong != 0 // see [condition.UnknownTest]
}

// Holds evaluates one canonical path in its two forms, relative to the root and absolute, as far as
// they exist; also folded for a restrictive test. high is set if it may have code points above
// ASCII.
func (t *Test) Holds(canonical []byte, high bool) bool {
	if t.walked.more(canonical) {
		return t.walks(canonical, high)
	}
	if t.Folded && (high || t.automaton().language.DFA() == nil) {
		if folded := []byte(spelling.Fold(string(canonical))); t.inside(folded) {
			return true
		}
	}
	return t.inside(canonical)
}

// walks is holds without the automaton.
func (t *Test) walks(canonical []byte, high bool) bool {
	if t.Folded {
		if high && t.walksInside([]byte(spelling.Fold(string(canonical)))) {
			return true
		}
		lower := make([]byte, len(canonical))
		for i, c := range canonical {
			lower[i] = spelling.LowerASCII(c)
		}
		canonical = lower
	}
	return t.walksInside(canonical)
}

func (t *Test) walksInside(canonical []byte) bool {
	if len(canonical) > 0 && canonical[0] == '/' {
		rel, ok := t.CutRoot(canonical)
		if !ok {
			return t.walk(canonical)
		}
		canonical = rel
	}
	switch {
	case t.walk(canonical):
		return true
	case t.Env.Root == "" || Climbs(canonical):
		return false
	}
	return t.walkBelow(t.RootText(), canonical)
}

func (t *Test) inside(canonical []byte) bool {
	a := t.automaton()
	if len(canonical) > 0 && canonical[0] == '/' {
		rel, ok := t.CutRoot(canonical)
		if !ok {
			return a.language.Accepts(canonical)
		}
		canonical = rel
	}
	dfa := a.language.DFA()
	switch {
	case a.language.Accepts(canonical):
		return true
	case t.Env.Root == "" || Climbs(canonical):
		return false
	case dfa == nil:
		return a.language.Accepts(pathform.Joined(a.rootText, canonical))
	case len(canonical) == 0:
		return dfa.Accepting(a.atRoot)
	}
	return dfa.Accepting(dfa.After(a.inRoot, canonical))
}

// MayHold evaluates a value that the tool expands: it holds if it does for some expansion.
func (t *Test) MayHold(pattern string) bool {
	every := t.Aimed == nil
	return (every || t.Aimed(pattern)) && t.Meets(pattern, every)
}

// Meets is mayHold without aimed; with every its wildcards also match a leading dot.
func (t *Test) Meets(pattern string, every bool) bool {
	if t.walked.more([]byte(pattern)) {
		return t.walksMeeting(pattern, every)
	}
	return t.known.ask(question{path: pattern, glob: true, hidden: every}, func() bool { return t.meets(pattern, every) })
}

func (t *Test) meets(pattern string, every bool) bool {
	a := t.automaton()
	dfa := a.language.DFA()
	switch {
	case dfa == nil || dfa.Meets(dfa.First(), pathform.ValuePattern(pattern, every)):
		return true
	case !strings.HasPrefix(pattern, "/"):
		return t.Env.Root != "" && dfa.Meets(a.inRoot, pathform.ValuePattern(pattern, every))
	}
	rel, ok := pathform.InsideRoot(pattern, t.Env.Root)
	return ok && dfa.Meets(dfa.First(), pathform.ValuePattern(rel, every))
}

// walksMeeting is meets without the automaton.
func (t *Test) walksMeeting(pattern string, every bool) bool {
	literals := t.direct()
	switch {
	case literals.Meets("", pathform.ValuePattern(pattern, every), t.Folded):
		return true
	case !strings.HasPrefix(pattern, "/"):
		return t.Env.Root != "" && literals.Meets(t.rootPrefix(), pathform.ValuePattern(pattern, every), t.Folded)
	}
	rel, ok := pathform.InsideRoot(pattern, t.Env.Root)
	return ok && literals.Meets("", pathform.ValuePattern(rel, every), t.Folded)
}

// rootPrefix is the input of automata before a path below the root.
func (t *Test) rootPrefix() string {
	prefix := string(t.RootText())
	if t.Env.Root != "/" {
		prefix += "/"
	}
	return prefix
}

// Pattern is pattern on a path: it evaluates the cleaned form if it is permissive, every
// reading if it is restrictive (K20).
type Pattern struct {
	pathform.Context
	Test plaintext.SpellingTest
}

func (t *Pattern) Match(value []byte) bool {
	var v pathform.Value
	v.Reset(value)
	return t.judge(&v)
}

func (t *Pattern) Judge(v *condition.Value) bool { return t.judge(pathform.Of(v)) }

func (t *Pattern) judge(v *pathform.Value) bool {
	canonical, certain := v.Certain(&t.Context)
	if rel, ok := pathform.CutRoot(canonical, []byte(t.Env.Root)); ok {
		canonical = rel
	}
	switch {
	case !t.Restrictive:
		return certain && t.Test.Holds(canonical)
	case t.Test.Holds(v.Text()):
		return true
	case certain:
		return t.reads(string(canonical))
	}
	list, unknown := v.Readings(&t.Context)
	return unknown&condition.TooLong != 0 || t.readsAny(list)
}

func (t *Pattern) readsAny(list []pathform.Reading) bool {
	return slices.ContainsFunc(list, func(r pathform.Reading) bool { return !r.Glob && t.reads(r.Path) })
}

// reads evaluates one reading, with and without regard to case.
func (t *Pattern) reads(path string) bool {
	return t.Test.Holds([]byte(path)) || t.Test.Holds([]byte(spelling.Fold(path)))
}
