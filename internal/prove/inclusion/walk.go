package inclusion

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/weburl"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
)

// Walkers returns automata whose union contains the strings that satisfy the matcher, nil for none.
// Paths are canonical, relative to the root if they are below, as analysis writes them.
//
// A restrictive matcher on paths may match additional strings beyond ASCII, which compare without
// case there; none of the automata accepts a string that the matcher rejects.
func Walkers(m *match.Matcher) []automaton.Walker {
	switch test := m.Test().(type) {
	case condition.WalkedTest:
		return test.Automata()
	case *plaintext.StepText:
		return []automaton.Walker{test.Dfa()}
	case *plaintext.LengthTest:
		return []automaton.Walker{&plaintext.LengthWalker{Test: *test}}
	case *pathname.Test:
		return test.Walkers()
	case *pathname.OutsideTest:
		return test.Walkers()
	case *plaintext.PatternText:
		return plaintext.PatternWalkers(test.Test)
	case *pathname.Pattern:
		return plaintext.PatternWalkers(test.Test)
	case pathname.Either:
		a, b := test[0].Walkers(), test[1].Walkers()
		if a == nil || b == nil {
			return nil
		}
		return append(a, b...)
	}
	return nil
}

// SinglePattern returns the pattern of a condition with a single pattern, nil for others.
func SinglePattern(m *match.Matcher) *regular.Pattern {
	var list plaintext.Patterns
	switch test := m.Test().(type) {
	case *plaintext.PatternText:
		list, _ = test.Test.(plaintext.Patterns)
	case *pathname.Pattern:
		list, _ = test.Test.(plaintext.Patterns)
	}
	if len(list) != 1 {
		return nil
	}
	return list[0]
}

// Named returns automata whose union contains the literals as written, without the additional
// spellings of restrictive conditions, nil if there are none.
func Named(m *match.Matcher) []automaton.Walker {
	switch {
	case !m.Restrictive():
		return Walkers(m)
	case m.Kind() == condition.MaxLength:
		if test, ok := m.Test().(*plaintext.LengthTest); ok {
			return []automaton.Walker{&plaintext.LengthWalker{Test: plaintext.LengthTest{Most: test.Most}}}
		}
		return nil
	}
	switch test := m.Test().(type) {
	case condition.WalkedTest:
		return test.Automata()
	case *plaintext.PatternText:
		return plaintext.PatternWalkers(test.Test)
	case *pathname.Pattern:
		return plaintext.PatternWalkers(test.Test)
	case *pathname.OutsideTest:
		return test.Walkers()
	case *plaintext.StepText, *pathname.Test, pathname.Either:
		a := language(m, false)
		if a == nil {
			return nil
		}
		if m.Annotation() != schema.Path {
			return []automaton.Walker{a}
		}
		return pathname.Rooted(a, pathform.NormalEnv(m.Env()).Root)
	}
	return nil
}

// Keys returns the programs or hosts of a condition on commands or URLs. A value with a key ([Key])
// satisfies the condition only if its key is one of these. Keys returns nil if they are unknown.
func Keys(m *match.Matcher) []string {
	switch test := m.Test().(type) {
	case *commandline.Test:
		return test.Keys(m.Written())
	case *weburl.Test:
		return test.Keys()
	}
	return nil
}

// Part returns a literal that is part of every value with a key ([Key]) that satisfies a condition on
// commands, "" if none is known.
func Part(m *match.Matcher) string {
	if test, ok := m.Test().(*commandline.Test); ok {
		return test.Part(m.Written())
	}
	return ""
}

// Key returns the key of a value: the program of a line that is one plain command, the host of a URL
// that is plainly written.
func Key(v *condition.Value, a schema.Annotation) (key string, ok bool) {
	switch a {
	case schema.Command:
		return commandline.Of(v).Program()
	case schema.URL:
		return weburl.Key(v)
	}
	return "", false
}
