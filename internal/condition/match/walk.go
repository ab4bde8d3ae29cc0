package match

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// checkLiterals is compileText without automata, for matchers on strings and paths that compare
// with literals. done is false for all others.
func checkLiterals(s condition.Spec, t condition.Target, restrictive bool) (done bool, _ *condition.SpecError) {
	switch s.Kind {
	case condition.Const, condition.Enum, condition.Prefix:
	default:
		return false, nil
	}
	switch t.Annotation {
	case schema.Path:
		for i, lit := range s.Values {
			if err := pathname.CheckPathLiteral(s.Kind, lit.Text, restrictive); err != nil {
				err.Index = i
				return true, err
			}
		}
	case schema.None:
		for i, lit := range s.Values {
			if s.Kind == condition.Prefix && lit.Text == "" {
				return true, condition.Invalid(i, "is empty, so the condition always matches", "leave the condition out")
			}
		}
	default:
		return false, nil
	}
	return true, nil
}

// Walkers returns automata whose union contains the strings that satisfy the matcher, nil for none.
// Paths are canonical, relative to the root if they are below, as analysis writes them.
//
// A restrictive matcher on paths may match additional strings beyond ASCII, which compare without
// case there; none of the automata accepts a string that the matcher rejects.
func (m *Matcher) Walkers() []automaton.Walker {
	switch test := m.text.(type) {
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
func (m *Matcher) SinglePattern() *regular.Pattern {
	var list plaintext.Patterns
	switch test := m.text.(type) {
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
func (m *Matcher) Named() []automaton.Walker {
	switch {
	case !m.restrictive:
		return m.Walkers()
	case m.kind == condition.MaxLength:
		if test, ok := m.text.(*plaintext.LengthTest); ok {
			return []automaton.Walker{&plaintext.LengthWalker{Test: plaintext.LengthTest{Most: test.Most}}}
		}
		return nil
	}
	switch test := m.text.(type) {
	case condition.WalkedTest:
		return test.Automata()
	case *plaintext.PatternText:
		return plaintext.PatternWalkers(test.Test)
	case *pathname.Pattern:
		return plaintext.PatternWalkers(test.Test)
	case *pathname.OutsideTest:
		return test.Walkers()
	case *plaintext.StepText, *pathname.Test, pathname.Either:
		a := m.language(false)
		if a == nil {
			return nil
		}
		if m.annotation != schema.Path {
			return []automaton.Walker{a}
		}
		return pathname.Rooted(a, pathform.NormalEnv(m.env).Root)
	}
	return nil
}
