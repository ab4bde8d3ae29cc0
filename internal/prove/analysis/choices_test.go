package analysis_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// drawnCondition is a condition on a variable that may be absent, null, one value or several, and
// how it is meant (K5, B9).
type drawnCondition struct {
	analysis.Condition
	inSet func(analysis.Value) bool
}

func drawCondition(r *rand.Rand, v *analysis.Variable) drawnCondition {
	var c drawnCondition
	switch r.IntN(6) {
	case 0:
		c.Subject, c.Present, c.AtMost = analysis.Present, r.IntN(2) == 0, -1
		c.Value = c.Present && r.IntN(2) == 0
		c.Set = &analysis.Set{Every: true}
		c.Named, c.Holds = c.Set, func(analysis.Value) bool { return true }
	case 1:
		if v.Countable {
			c.Subject, c.AtLeast, c.AtMost = analysis.Count, r.IntN(3), -1
			if r.IntN(2) == 0 {
				c.AtMost = c.AtLeast + r.IntN(2)
			}
			return c
		}
		fallthrough
	default:
		if r.IntN(3) == 0 {
			truth := r.IntN(2) == 0
			set := &analysis.Set{True: truth, False: !truth}
			c.Set, c.Named, c.AtMost = set, set, -1
			c.inSet = func(v analysis.Value) bool { return v.Kind == analysis.Boolean && v.True == truth }
		} else {
			low := r.IntN(3)
			c.Condition = between(low, low+r.IntN(2))
			c.inSet = c.Holds
		}
		c.Holds = c.inSet
	}
	c.Permissive = r.IntN(2) == 0
	c.All = c.Permissive
	if v.Several && r.IntN(4) == 0 {
		c.All = !c.All
	}
	return c
}

// holds is written from the words of the threat model.
func (c *drawnCondition) holds(v *analysis.Variable, x analysis.Choice) bool {
	empty := x.Absent || x.Null || len(x.Leaves) == 0
	switch c.Subject {
	case analysis.Count:
		n := len(x.Leaves)
		return !x.Absent && !x.Null && n >= c.AtLeast && (c.AtMost < 0 || n <= c.AtMost)
	case analysis.Present:
		null := x.Null || x.Absent && v.DefaultNull
		doubtful := null || x.Absent && v.Default != nil || empty && !x.Absent && !x.Hole
		switch {
		case null && c.Value:
			return false
		case doubtful:
			return !c.Permissive // there and not there for suspicion, neither for certainty
		case c.Present:
			return !empty && !(c.All && x.Hole)
		}
		return empty || !c.All && x.Hole
	}
	if x.Absent && v.Default != nil {
		return !c.Permissive && c.inSet(*v.Default)
	}
	if c.All {
		return !empty && !x.Hole && !slices.ContainsFunc(x.Leaves, func(l analysis.Value) bool { return !c.inSet(l) })
	}
	return slices.ContainsFunc(x.Leaves, c.inSet)
}

// everyChoice lists the choices for a variable, up to a number of leaves.
func everyChoice(v *analysis.Variable, values []analysis.Value, most int) (all []analysis.Choice) {
	if v.Optional {
		all = append(all, analysis.Choice{Absent: true})
	}
	if v.Null {
		all = append(all, analysis.Choice{Null: true})
	}
	lists := [][]analysis.Value{nil}
	for from := 0; from < len(lists); from++ {
		if n := len(lists[from]); n > 0 || v.Several {
			all = append(all, analysis.Choice{Leaves: lists[from]})
			if v.Holes && n > 0 {
				all = append(all, analysis.Choice{Leaves: lists[from], Hole: true})
			}
		}
		if n := len(lists[from]); n == 0 || v.Several && n < most {
			for _, x := range values {
				lists = append(lists, append(slices.Clone(lists[from]), x))
			}
		}
	}
	return all
}

// Proves D25-38, I25, K3, K5: where a value may be absent, null, one of several or have a
// default, no rule is called covered that some call reaches, every witness reaches its
// rule, and hardly anything is left undecided.
func TestPresenceAgainstAllChoices(t *testing.T) {
	domain := analysis.Domain{Number: true, Whole: true, Boolean: true, Intervals: between(0, 3).Set.Intervals}
	values := []analysis.Value{{Kind: analysis.Boolean, True: true}, {Kind: analysis.Boolean}}
	for n := range 4 {
		values = append(values, analysis.Value{Kind: analysis.Number, Number: number(n)})
	}
	dead, undecided, judged := 0, 0, 0
	for seed := range rounds(1000, 20_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 12))
		v := analysis.Variable{AtMost: -1, Domain: domain, Several: r.IntN(2) == 0, Optional: r.IntN(2) == 0, Null: r.IntN(3) == 0}
		if v.Several {
			if v.Countable = r.IntN(2) == 0; !v.Countable { // several arrays, of which one may lack its leaf
				v.Holes = r.IntN(2) == 0
			}
		} else if v.Optional && r.IntN(2) == 0 {
			v.Default = &values[r.IntN(len(values))]
		} else if v.Optional && v.Null {
			v.DefaultNull = r.IntN(2) == 0
		}
		list := analysis.List{Variables: []analysis.Variable{v}}
		var rules [][]drawnCondition
		for range 1 + r.IntN(5) {
			var rule []drawnCondition
			var written analysis.Rule
			for range 1 + r.IntN(2) {
				c := drawCondition(r, &v)
				rule, written.Conditions = append(rule, c), append(written.Conditions, c.Condition)
			}
			rules, list.Rules = append(rules, rule), append(list.Rules, written)
		}
		first := func(x analysis.Choice) int {
			return slices.IndexFunc(rules, func(rule []drawnCondition) bool {
				return !slices.ContainsFunc(rule, func(c drawnCondition) bool { return !c.holds(&v, x) })
			})
		}
		reached := make([]bool, len(rules))
		for _, x := range everyChoice(&v, values, 3) {
			if i := first(x); i >= 0 {
				reached[i] = true
			}
		}
		for i, f := range analysis.Reach(list, analysis.Budget{}) {
			judged++
			switch f.Answer {
			case regular.NotProven:
				undecided++
			case regular.Yes:
				if got := first(f.Witness[0]); got != i {
					t.Fatalf("seed %d: the witness %+v reaches rule %d, not %d", seed, f.Witness[0], got, i)
				}
			case regular.No:
				if dead++; reached[i] {
					t.Fatalf("seed %d: rule %d is reached and called covered", seed, i)
				}
			}
		}
	}
	if dead == 0 || undecided > judged/50 {
		t.Errorf("%d covered, %d of %d undecided", dead, undecided, judged)
	}
}
