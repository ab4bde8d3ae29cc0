package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

func number(n int) jsonstream.Decimal {
	d, err := jsonstream.ParseDecimal([]byte(fmt.Sprint(n)))
	if err != nil {
		panic(err)
	}
	return d
}

// between holds the integers from low to high.
func between(low, high int) analysis.Condition {
	in := analysis.Interval{Low: analysis.Cut{At: number(low)}, High: analysis.Cut{At: number(high), Above: true}}
	set := &analysis.Set{Intervals: []analysis.Interval{in}}
	return analysis.Condition{Set: set, Named: set, AtMost: -1, Holds: func(v analysis.Value) bool {
		return v.Kind == analysis.Number && v.Number.Cmp(number(low)) >= 0 && v.Number.Cmp(number(high)) <= 0
	}}
}

// Proves D25-38, I25: ranges of integers, alone and two in one rule, are covered exactly
// if no pair of integers reaches a rule.
func TestRangesAgainstAllIntegers(t *testing.T) {
	const most = 9
	domain := analysis.Domain{Number: true, Whole: true, Intervals: between(0, most).Set.Intervals}
	variables := []analysis.Variable{{AtMost: -1, Domain: domain}, {AtMost: -1, Domain: domain}}
	dead := 0
	for seed := range rounds(600, 30_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		list := analysis.List{Variables: variables}
		for range 1 + r.IntN(6) {
			var rule analysis.Rule
			for v := range 2 {
				if r.IntN(3) > 0 {
					low := r.IntN(most + 1)
					k := between(low, min(most, low+r.IntN(8)))
					k.Variable = v
					rule.Conditions = append(rule.Conditions, k)
				}
			}
			list.Rules = append(list.Rules, rule)
		}
		reached := make([]bool, len(list.Rules))
		for a := range most + 1 {
			for b := range most + 1 {
				if i := firstOf(list.Rules, a, b); i >= 0 {
					reached[i] = true
				}
			}
		}
		for i, f := range analysis.Reach(list, analysis.Budget{}) {
			switch {
			case f.Answer == regular.NotProven:
				t.Fatalf("seed %d: rule %d was not decided", seed, i)
			case (f.Answer == regular.Yes) != reached[i]:
				t.Fatalf("seed %d: rule %d: %v, but reached is %v", seed, i, f.Answer, reached[i])
			case f.Answer == regular.No:
				dead++
			}
		}
	}
	if dead == 0 {
		t.Error("no covered rule was drawn")
	}
}

func firstOf(rules []analysis.Rule, pair ...int) int {
	return slices.IndexFunc(rules, func(rule analysis.Rule) bool {
		return !slices.ContainsFunc(rule.Conditions, func(k analysis.Condition) bool {
			return !k.Holds(analysis.Value{Kind: analysis.Number, Number: number(pair[k.Variable])})
		})
	})
}

// Proves I25: in two policies over one integer, every pair of rules between which some
// integer changes its mode is found, with such an integer, and no other.
func TestCompareAgainstAllIntegers(t *testing.T) {
	const most = 9
	domain := analysis.Domain{Number: true, Whole: true, Intervals: between(0, most).Set.Intervals}
	list := analysis.List{Variables: []analysis.Variable{{AtMost: -1, Domain: domain}}}
	changed := 0
	for seed := range rounds(600, 30_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 10))
		draw := func() *analysis.Policy {
			p := &analysis.Policy{End: r.IntN(3)}
			for range r.IntN(5) {
				low := r.IntN(most + 1)
				p.Rules = append(p.Rules, analysis.Rule{Conditions: []analysis.Condition{between(low, low+r.IntN(6))}})
				p.Modes = append(p.Modes, r.IntN(3))
			}
			return p
		}
		before, after := draw(), draw()
		decides := func(p *analysis.Policy, n int) (index, mode int) {
			if index = firstOf(p.Rules, n); index < 0 {
				return index, p.End
			}
			return index, p.Modes[index]
		}
		want := make(map[[2]int]bool)
		for n := range most + 1 {
			i, from := decides(before, n)
			if j, to := decides(after, n); from != to {
				want[[2]int{i, j}] = true
			}
		}
		got := analysis.Compare(list, before, after, analysis.Budget{}, nil)
		if !got.Complete || len(got.Cells) != len(want) {
			t.Fatalf("seed %d: %d cells, complete %v, want %d", seed, len(got.Cells), got.Complete, len(want))
		}
		for _, c := range got.Cells {
			if changed++; !want[[2]int{c.Old.Index, c.New.Index}] {
				t.Fatalf("seed %d: rules %d and %d have no integer between them that changes", seed, c.Old.Index, c.New.Index)
			}
		}
	}
	if changed == 0 {
		t.Error("nothing changed")
	}
}
