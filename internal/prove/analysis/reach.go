package analysis

import (
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Finding is the result for one rule.
type Finding struct {
	// Answer reports whether some call reaches the rule.
	Answer regular.Answer
	// Witness is such a call: a choice for each variable, absent where no value is
	// needed. Nil if the answer is not Yes.
	Witness []Choice
	// By are the earlier rules that together cover the rule, in order: of a proof, all
	// that it rests on. They are empty if the rule could not even match alone.
	By []int
	// Variable is the variable that has no value left, -1 if the proof needs several.
	Variable int
	// Mixed are rules above of which one decides whenever all leaves satisfy a
	// condition of this rule: only a list of mixed leaves reaches it.
	Mixed []int
}

// side is one list with its indexes.
type side struct {
	number    int
	rules     []Rule
	indexes   []*index // by variable
	compounds *compounds
	catchAll  int32 // the first rule without conditions, or none
}

func newSide(number int, variables []Variable, rules []Rule) *side {
	l := &side{number: number, rules: rules, compounds: newCompounds(variables), catchAll: none}
	for i := range variables {
		key := variables[i].Domain.Key
		l.indexes = append(l.indexes, &index{any: newColumn(key), all: newColumn(key)})
	}
	return l
}

func (l *side) add(variables []Variable, i int32) {
	r := &l.rules[i]
	switch {
	case r.Skip || l.catchAll != none:
	case len(r.Conditions) == 0:
		l.catchAll = i
	case len(r.Conditions) == 1:
		k := &r.Conditions[0]
		l.indexes[k.Variable].add(&variables[k.Variable], i, k)
	default:
		l.compounds.add(i, r)
	}
}

func newSolver(list List, b Budget, lists ...[]Rule) *solver {
	s := &solver{variables: list.Variables, budget: b.orDefault(), covers: list.Covers}
	s.states, s.pairs = s.budget.AllStates, s.budget.Pairs
	s.reset()
	for i, rules := range lists {
		s.lists = append(s.lists, newSide(i, list.Variables, rules))
	}
	return s
}

// Reach reports for every rule of a list whether some call reaches it.
func Reach(list List, b Budget) []Finding {
	s := newSolver(list, b, list.Rules)
	findings := make([]Finding, len(list.Rules))
	for i := range list.Rules {
		if list.Rules[i].Skip {
			continue
		}
		findings[i] = s.rule(int32(i))
		if findings[i].Answer != regular.No { // a rule that never fires does not cover others
			s.lists[0].add(list.Variables, int32(i))
		}
	}
	return findings
}

// rule judges one rule of the first list.
func (s *solver) rule(i int32) Finding {
	l := s.lists[0]
	c := &cell{solver: s, rules: []*Rule{&l.rules[i]}, limits: []int32{i}}
	f := c.solve()
	if f.Answer != regular.Yes {
		return f
	}
	for k := range l.rules[i].Conditions {
		if by := s.mixed(i, &l.rules[i].Conditions[k]); by != nil && len(l.rules[i].Conditions) == 1 {
			f.Mixed = by
		}
	}
	return f
}

// mixed returns the rules that decide whenever all leaves satisfy a condition that
// one leaf can satisfy.
func (s *solver) mixed(i int32, k *Condition) []int {
	v := &s.variables[k.Variable]
	x := s.lists[0].indexes[k.Variable]
	if k.All || !v.Several || k.Subject != Leaves || len(x.all.entries) == 0 {
		return nil
	}
	q := leafQuery{variable: v, in: []*Condition{k}, taken: []taken{{0, x.any, i}, {0, x.all, i}}}
	if _, st := s.leaf(&q); st != absent {
		return nil
	}
	for _, e := range x.all.entries {
		if e.rule >= i {
			break
		}
		one := leafQuery{variable: v, in: []*Condition{k}, out: []*Condition{e.condition}, taken: []taken{{0, x.any, i}}}
		if !q.blame[ruleID{0, e.rule}] {
			continue
		}
		if _, st := s.leaf(&one); st == absent {
			one.blame[ruleID{0, e.rule}] = true
			return rulesOf(one.blame)
		}
	}
	return nil
}

func rulesOf(b blame) []int {
	var list []int
	for id := range b {
		list = append(list, int(id.rule))
	}
	slices.Sort(list)
	return list
}
