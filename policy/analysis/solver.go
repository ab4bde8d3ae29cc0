package analysis

import (
	"github.com/stopgate/stopgate/internal/automaton"
	"github.com/stopgate/stopgate/policy/match"
)

// solver holds what the searches of one analysis share.
type solver struct {
	variables []Variable
	lists     []*side
	budget    Budget
	states    int
	pairs     int
	thorough  bool // the shortest text is worth a search
	covers    func(earlier, later *Condition) match.Answer

	suggested map[*Condition][]string
	walks     map[*Set]automaton.Walker
	domains   map[*Variable]*domainWalkers
	rest      map[int][]*rested // by variable
}

func (s *solver) reset() {
	s.suggested = make(map[*Condition][]string)
	s.walks = make(map[*Set]automaton.Walker)
	s.domains = make(map[*Variable]*domainWalkers)
	s.rest = make(map[int][]*rested)
}

type domainWalkers struct{ inside, outside []automaton.Walker }

func (s *solver) product(inside, outside []automaton.Walker, owners []func(uint32) ruleID) *product {
	for len(owners) < len(outside) {
		owners = append(owners, nobody)
	}
	return &product{inside: inside, outside: outside, owners: owners, budget: &s.states, most: s.budget.States}
}

// walker returns the automaton of the texts of a set that is not all there is.
func (s *solver) walker(set *Set) automaton.Walker {
	if w, ok := s.walks[set]; ok {
		return w
	}
	var all []automaton.Walker
	t := &set.Texts
	if len(t.Exact)+len(t.Below) > 0 {
		tr := newTrie(t.Folded)
		for _, text := range t.Exact {
			tr.addExact(text, 0)
		}
		for _, text := range t.Below {
			tr.addBelow(text, 0)
		}
		all = append(all, tr)
	}
	all = append(all, s.languages(set)...)
	var w automaton.Walker
	switch len(all) {
	case 0:
		w = newTrie(false) // no text at all
	case 1:
		w = all[0]
	default:
		w = newUnion(all)
	}
	s.walks[set] = w
	return w
}

// describes reports whether the automata of a set are all of it; those of a set that would
// be too large are missing.
func (s *solver) describes(set *Set) bool {
	return set.Texts.Languages == nil || len(s.languages(set)) > 0
}

// languages returns the automata of a set beside its literals.
func (s *solver) languages(set *Set) []automaton.Walker {
	if set.Texts.Languages == nil {
		return nil
	}
	return set.Texts.Languages()
}

// domain returns the automata of a variable's texts.
func (s *solver) domain(v *Variable) (inside, outside []automaton.Walker) {
	d, ok := s.domains[v]
	if !ok {
		d = &domainWalkers{}
		if v.Domain.Languages != nil {
			d.inside, d.outside = v.Domain.Languages()
		}
		s.domains[v] = d
	}
	return append([]automaton.Walker(nil), d.inside...), append([]automaton.Walker(nil), d.outside...)
}
