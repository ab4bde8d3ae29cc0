package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// The oracle of these tests goes through all texts over a small alphabet.

// words are all texts over a and b of up to n letters.
func words(n int) []string {
	all := []string{""}
	for from := 0; n > 0; n-- {
		end := len(all)
		for _, w := range all[from:end] {
			all = append(all, w+"a", w+"b")
		}
		from = end
	}
	return all
}

// textCondition is one condition on texts with its meaning, which the oracle asks.
type textCondition struct {
	text      string
	condition analysis.Condition
}

func pattern(text string) textCondition {
	p, err := regular.Compile(text)
	if err != nil {
		panic(err)
	}
	set := &analysis.Set{Texts: analysis.Texts{
		Languages: []analysis.Language{{Walkers: func() []automaton.Walker { return []automaton.Walker{p.Language().Walker()} }}}, Language: p.Language, Contains: p.Literal(),
	}}
	set.Texts.Samples = func() []string { return []string{p.Sample(), p.Sample() + "a"} }
	return textCondition{"pattern " + text, analysis.Condition{
		Set: set, Named: set, Key: text, AtMost: -1, Holds: func(v analysis.Value) bool { return p.Match([]byte(v.Text)) },
	}}
}

func literals(exact, below []string) textCondition {
	set := &analysis.Set{Texts: analysis.Texts{Exact: exact, Below: below}}
	return textCondition{fmt.Sprintf("exact %q below %q", exact, below), analysis.Condition{
		Set: set, Named: set, AtMost: -1, Holds: func(v analysis.Value) bool {
			return slices.Contains(exact, v.Text) || slices.ContainsFunc(below, func(b string) bool { return strings.HasPrefix(v.Text, b) })
		},
	}}
}

func randomCondition(r *rand.Rand) textCondition {
	word := func() string { return words(3)[r.IntN(15)] }
	switch r.IntN(4) {
	case 0:
		return literals([]string{word(), word()}, nil)
	case 1:
		return literals(nil, []string{word() + "a"})
	}
	parts := []string{"a", "b", "[ab]", "(a|bb)", "(ab)*", "a+", "b?", "(?=a)", "(?!b)", ".", "aba", "(b|aa)b"}
	text := ""
	for range 1 + r.IntN(4) {
		text += parts[r.IntN(len(parts))]
	}
	if r.IntN(2) == 0 {
		text = "^" + text
	}
	if r.IntN(2) == 0 {
		text += "$"
	}
	return pattern(text)
}

func rounds(normal, long int) int {
	if os.Getenv("STOPGATE_LONG") != "" {
		return long
	}
	return normal
}

// Proves D25-38, K47, I25: on one text, literals, beginnings and patterns with
// lookaround mixed, a rule is covered exactly if no word reaches it, and every witness
// does.
func TestTextsAgainstAllWords(t *testing.T) {
	domain := words(7)
	inside := func() ([]automaton.Walker, []automaton.Walker) {
		p, _ := regular.Compile("^[ab]{0,7}$")
		return []automaton.Walker{p.Language().Walker()}, nil
	}
	dead := 0
	for seed := range rounds(1500, 60_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		list := analysis.List{Variables: []analysis.Variable{{AtMost: -1, Domain: analysis.Domain{Text: true, Languages: inside}}}}
		var shown []string
		rules := 1 + r.IntN(6)
		if seed%10 == 0 { // enough of them to be asked together
			rules = 10 + r.IntN(30)
		}
		for range rules {
			c := randomCondition(r)
			shown = append(shown, c.text)
			list.Rules = append(list.Rules, analysis.Rule{Conditions: []analysis.Condition{c.condition}})
		}
		list.Variables[0].Domain.Admits = func(v analysis.Value) bool { return len(v.Text) <= 7 && strings.Trim(v.Text, "ab") == "" }
		first := func(word string) int {
			return slices.IndexFunc(list.Rules, func(rule analysis.Rule) bool {
				return rule.Conditions[0].Holds(analysis.Value{Kind: analysis.Text, Text: word})
			})
		}
		reached := make([]bool, len(list.Rules))
		for _, w := range domain {
			if i := first(w); i >= 0 {
				reached[i] = true
			}
		}
		for i, f := range analysis.Reach(list, analysis.Budget{}) {
			switch {
			case f.Answer == regular.NotProven:
				t.Fatalf("seed %d: rule %d was not decided: %q", seed, i, shown)
			case (f.Answer == regular.Yes) != reached[i]:
				t.Fatalf("seed %d: rule %d: %v, but reached is %v: %q", seed, i, f.Answer, reached[i], shown)
			case f.Answer == regular.Yes && first(f.Witness[0].Leaves[0].Text) != i:
				t.Fatalf("seed %d: the witness %q does not reach rule %d: %q", seed, f.Witness[0].Leaves[0].Text, i, shown)
			case f.Answer == regular.No:
				dead++
				if !blamed(list, f.By, i, domain) {
					t.Fatalf("seed %d: rules %v do not cover rule %d: %q", seed, f.By, i, shown)
				}
			}
		}
	}
	if dead == 0 {
		t.Error("no covered rule was drawn")
	}
}

// blamed reports whether the rules that a proof names cover a rule by themselves.
func blamed(list analysis.List, by []int, i int, domain []string) bool {
	return !slices.ContainsFunc(domain, func(word string) bool {
		v := analysis.Value{Kind: analysis.Text, Text: word}
		return list.Rules[i].Conditions[0].Holds(v) &&
			!slices.ContainsFunc(by, func(e int) bool { return list.Rules[e].Conditions[0].Holds(v) })
	})
}

// Proves K47: past its budget the answer is "not proven", never wrong.
func TestBudget(t *testing.T) {
	list := analysis.List{Variables: []analysis.Variable{{AtMost: -1, Domain: analysis.Domain{Text: true}}}}
	for _, text := range []string{"^(a|b)*a(a|b){6}$", "^(a|b)*b(a|b){6}$", "^(a|b){7,}$"} {
		list.Rules = append(list.Rules, analysis.Rule{Conditions: []analysis.Condition{pattern(text).condition}})
	}
	if f := analysis.Reach(list, analysis.Budget{})[2]; f.Answer != regular.No || !slices.Equal(f.By, []int{0, 1}) {
		t.Errorf("with the default budget: %v by %v", f.Answer, f.By)
	}
	if f := analysis.Reach(list, analysis.Budget{States: 10})[2]; f.Answer != regular.NotProven {
		t.Errorf("with 10 states: %v", f.Answer)
	}
}

// A union, across kinds: the example of the reference.
func ExampleReach() {
	var list analysis.List
	list.Variables = []analysis.Variable{{AtMost: -1, Domain: analysis.Domain{Text: true}}}
	for _, text := range []string{"^[a-m]", "^[n-z]", "^[a-z]+$", "^[A-Z]"} {
		list.Rules = append(list.Rules, analysis.Rule{Conditions: []analysis.Condition{pattern(text).condition}})
	}
	for i, f := range analysis.Reach(list, analysis.Budget{}) {
		if f.Answer == regular.No {
			fmt.Println(i, "is covered by", f.By)
			continue
		}
		fmt.Println(i, "is reached by", f.Witness[0].Leaves[0].Text)
	}
	// Output:
	// 0 is reached by a
	// 1 is reached by x
	// 2 is covered by [0 1]
	// 3 is reached by A
}
