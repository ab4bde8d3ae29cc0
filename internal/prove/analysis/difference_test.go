package analysis_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// languages makes a condition of patterns, each of them a language with a key.
func languages(all bool, patterns ...string) analysis.Condition {
	set := &analysis.Set{}
	set.Texts.All = all
	var compiled []*regular.Pattern
	for _, text := range patterns {
		p, err := regular.Compile(text)
		if err != nil {
			panic(err)
		}
		compiled = append(compiled, p)
		set.Texts.Languages = append(set.Texts.Languages, analysis.Language{Key: text,
			Walkers: func() []automaton.Walker { return []automaton.Walker{p.Language().Walker()} }})
	}
	return analysis.Condition{AtMost: -1, Set: set, Named: set, Holds: func(v analysis.Value) bool {
		for _, p := range compiled {
			if p.Language().Contains(v.Text) != all {
				return !all
			}
		}
		return all
	}}
}

// The values that two conditions have in common are not searched: a budget that is too small
// for them is enough for the values that only one of them has.
func TestConditionsDifferInFewLanguages(t *testing.T) {
	shared := []string{"^(a|b)*a(a|b){6}$", "^(a|c)*c(a|c){6}$", "^(b|c)*b(b|c){6}$"}
	for _, test := range []struct {
		name           string
		all            bool
		earlier, later []string
		want           regular.Answer
	}{
		{"the same", false, shared, shared, regular.No},
		{"one less", false, shared, shared[1:], regular.No},
		{"one more", false, shared, append([]string{"^x$"}, shared...), regular.Yes},
		{"the same of which all hold", true, shared, shared, regular.No},
		{"one more of which all hold", true, shared[1:], shared, regular.No},
	} {
		t.Run(test.name, func(t *testing.T) {
			list := analysis.List{
				Variables: []analysis.Variable{{AtMost: -1, Domain: analysis.Domain{Text: true}}},
				Rules: []analysis.Rule{
					{Conditions: []analysis.Condition{languages(test.all, test.earlier...)}},
					{Conditions: []analysis.Condition{languages(test.all, test.later...)}},
				},
			}
			if got := analysis.Reach(list, analysis.Budget{States: 40})[1].Answer; got != test.want {
				t.Errorf("the second rule: %v", got)
			}
		})
	}
}
