package analysis

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate/policy/match"
)

// Policy is one of two policies that are compared: a list of which the first match
// decides, and guards beside it, of which the strictest that matches counts if it is
// at least as strict as the list.
type Policy struct {
	Rules  []Rule
	Modes  []int // of the rules, smaller is stricter
	End    int   // the mode where no rule matches
	Guards []Rule
	// GuardModes are those of the guards. One guard may be several rules here, one for
	// each variable it looks at.
	GuardModes []int
}

// Cell is a set of calls in which one rule or guard decides in the old policy, and
// another one in the new, with another mode.
type Cell struct {
	Old, New Decider
	// Witness is a call of the cell, nil if it was not decided whether there is one.
	Witness []Choice
}

// Decider is what decides a call: a guard, a rule, or the end of the list.
type Decider struct {
	Guard bool
	Index int // -1: no rule matched
	Mode  int
}

// Comparison is what Compare found out.
type Comparison struct {
	Cells []Cell
	// Complete says that there are no other cells: each one that is not listed was
	// proved to be empty.
	Complete bool
	// Pairs is how many pairs of deciders were looked at.
	Pairs int
}

// outcome is one way in which a policy decides.
type outcome struct {
	Decider
	rule, guard           *Rule
	ruleLimit, guardLimit int32
}

// Compare lists the cells in which two policies over the same variables answer with
// different modes. refute may say of a witness that it shows no change; the cell is
// then searched no further and counts as not decided. It may be nil.
func Compare(list List, before, after *Policy, b Budget, refute func(Cell) bool) Comparison {
	p, q := sorted(before), sorted(after)
	s := newSolver(list, b, p.Rules, p.Guards, q.Rules, q.Guards)
	for _, l := range s.lists {
		for i := range l.rules {
			l.add(list.Variables, int32(i))
		}
	}
	s.thorough = len(before.Rules)+len(after.Rules) <= thoroughRules
	out := Comparison{Complete: true}
	known := make(map[[2]Decider]bool)
	twins := [2][]int{twinsOf(p.Rules, q.Rules), twinsOf(q.Rules, p.Rules)}
	pairs := s.budget.Cells
	for _, x := range p.outcomes() {
		for _, y := range q.outcomes() {
			key := [2]Decider{x.Decider, y.Decider}
			if x.Mode == y.Mode || known[key] || hidden(x, y, twins) || conflicting(x.rule, y.rule) {
				continue
			}
			if pairs--; pairs < 0 {
				out.Complete = false
				return out
			}
			out.Pairs++
			c := &cell{solver: s, rules: []*Rule{x.rule, x.guard, y.rule, y.guard},
				limits: []int32{x.ruleLimit, x.guardLimit, y.ruleLimit, y.guardLimit}}
			switch f := c.solve(); f.Answer {
			case match.Yes:
				found := Cell{Old: x.Decider, New: y.Decider, Witness: f.Witness}
				if refute != nil && refute(found) {
					out.Complete = false
					continue
				}
				known[key] = true
				out.Cells = append(out.Cells, found)
			case match.NotProven:
				out.Complete = false
			}
		}
	}
	return out
}

// thoroughRules is up to how many rules the shortest witness is searched for every
// cell, instead of the first one.
const thoroughRules = 400

// sorted brings the guards into the order in which they decide.
func sorted(p *Policy) *orderedPolicy {
	o := &orderedPolicy{Policy: *p, names: make([]int, len(p.Guards))}
	for i := range o.names {
		o.names[i] = i
	}
	slices.SortStableFunc(o.names, func(a, b int) int { return cmp.Compare(p.GuardModes[a], p.GuardModes[b]) })
	o.Guards, o.GuardModes = make([]Rule, len(p.Guards)), make([]int, len(p.Guards))
	for i, n := range o.names {
		o.Guards[i], o.GuardModes[i] = p.Guards[n], p.GuardModes[n]
	}
	return o
}

type orderedPolicy struct {
	Policy
	names []int // of the guards, as the caller counts them
}

// outcomes lists all ways in which a policy decides.
func (o *orderedPolicy) outcomes() []outcome {
	var list []outcome
	weakest := o.End
	for i := range o.Rules {
		weakest = max(weakest, o.Modes[i])
	}
	strictest := o.End
	for i, m := range o.Modes {
		if !o.Rules[i].Skip {
			strictest = min(strictest, m)
		}
	}
	for g := range o.Guards {
		out := outcome{Decider: Decider{true, o.names[g], o.GuardModes[g]}, guard: &o.Guards[g], guardLimit: int32(g)}
		switch {
		case out.Mode <= strictest: // whatever the list says
			list = append(list, out)
		case out.Mode <= weakest:
			for i := -1; i < len(o.Rules); i++ {
				if with := o.behind(out, i); with.ruleMode(o, i) >= out.Mode && !o.skipped(i) {
					list = append(list, with)
				}
			}
		}
	}
	for i := -1; i < len(o.Rules); i++ {
		if o.skipped(i) {
			continue
		}
		out := o.behind(outcome{}, i)
		out.Decider = Decider{Index: i, Mode: out.ruleMode(o, i)}
		for _, m := range o.GuardModes {
			if m <= out.Mode {
				out.guardLimit++
			}
		}
		list = append(list, out)
	}
	return list
}

func (o *orderedPolicy) skipped(i int) bool { return i >= 0 && o.Rules[i].Skip }

// behind adds what the list decides: a rule, or its end.
func (o *orderedPolicy) behind(out outcome, i int) outcome {
	out.ruleLimit = int32(len(o.Rules))
	if i >= 0 {
		out.rule, out.ruleLimit = &o.Rules[i], int32(i)
	}
	return out
}

func (outcome) ruleMode(o *orderedPolicy, i int) int {
	if i < 0 {
		return o.End
	}
	return o.Modes[i]
}

// twinsOf finds for every rule the first one of another list with the same
// conditions, -1 if there is none.
func twinsOf(rules, others []Rule) []int {
	first := make(map[string]int)
	for i := range others {
		if key := others[i].Key; key != "" && !others[i].Skip {
			if _, ok := first[key]; !ok {
				first[key] = i
			}
		}
	}
	twins := make([]int, len(rules))
	for i := range rules {
		twins[i] = none
		if n, ok := first[rules[i].Key]; ok && rules[i].Key != "" {
			twins[i] = n
		}
	}
	return twins
}

// hidden reports that one of the two rules stands further up in the other list,
// which then decides itself: the common proof where two policies have much in common.
func hidden(x, y outcome, twins [2][]int) bool {
	return x.rule != nil && above(twins[0][x.ruleLimit], y) || y.rule != nil && above(twins[1][y.ruleLimit], x)
}

// above reports that a rule stands above what decides.
func above(rule int, o outcome) bool { return rule != none && int32(rule) < o.ruleLimit }

// conflicting reports rules that surely have no call in common: both want one of
// some literals of one variable with one leaf.
func conflicting(a, b *Rule) bool {
	if a == nil || b == nil || len(a.Conditions) != 1 || len(b.Conditions) != 1 {
		return false
	}
	x, y := &a.Conditions[0], &b.Conditions[0]
	if x.Variable != y.Variable || x.Subject != Leaves || y.Subject != Leaves || !x.All || !y.All || !x.Permissive || !y.Permissive {
		return false
	}
	s, t := &x.Set.Texts, &y.Set.Texts
	return s.literal() && t.literal() && len(s.Below)+len(t.Below) == 0 && len(s.Exact) == 1 && len(t.Exact) == 1 && s.Exact[0] != t.Exact[0] &&
		len(x.Set.Intervals)+len(y.Set.Intervals)+len(x.Set.Objects)+len(y.Set.Objects) == 0 && !x.Set.True && !x.Set.False
}
