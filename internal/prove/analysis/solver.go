package analysis

import (
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// solver is the state that the searches of one analysis share.
type solver struct {
	variables []Variable
	lists     []*side
	budget    Budget
	states    int
	pairs     int
	thorough  bool // the shortest text is worth a search
	covers    func(earlier, later *Condition) regular.Answer

	suggested map[*Condition][]string
	walks     map[*Set]automaton.Walker
	parts     map[*Set][]automaton.Walker
	domains   map[*Variable]*domainWalkers
	rest      map[int][]*rested // by variable
}

func (s *solver) reset() {
	s.suggested = make(map[*Condition][]string)
	s.walks = make(map[*Set]automaton.Walker)
	s.parts = make(map[*Set][]automaton.Walker)
	s.domains = make(map[*Variable]*domainWalkers)
	s.rest = make(map[int][]*rested)
}

type domainWalkers struct{ inside, outside []automaton.Walker }

func (s *solver) product(inside, outside []automaton.Walker, owners []func(uint32) ruleID) *product {
	for len(owners) < len(outside) {
		owners = append(owners, noOwner)
	}
	return &product{inside: inside, outside: outside, owners: owners, budget: &s.states, most: s.budget.States}
}

// walker returns the automaton of the texts of a set that is not all there is.
func (s *solver) walker(set *Set) automaton.Walker {
	w, ok := s.walks[set]
	if !ok {
		w = set.Texts.walker(set.Texts.Languages)
		s.walks[set] = w
	}
	return w
}

// walker returns the automaton of texts with some of their languages.
func (t *Texts) walker(languages []Language) automaton.Walker {
	var all []automaton.Walker
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
	return union(append(all, t.parts(languages)...))
}

// parts returns automata whose union some of the languages are.
func (t *Texts) parts(languages []Language) (all []automaton.Walker) {
	if !t.All {
		for _, l := range languages {
			all = append(all, l.Walkers()...)
		}
		return all
	}
	for _, l := range languages {
		all = append(all, union(l.Walkers()))
	}
	if len(all) < 2 {
		return all
	}
	return []automaton.Walker{newCombined(all, true)}
}

// describes reports whether the automata of a set are all of it; those of a set that would
// be too large are missing.
func (s *solver) describes(set *Set) bool {
	return !slices.ContainsFunc(set.Texts.Languages, func(l Language) bool { return len(l.Walkers()) == 0 })
}

// languages returns the automata of a set without its literals.
func (s *solver) languages(set *Set) []automaton.Walker {
	if w, ok := s.parts[set]; ok {
		return w
	}
	w := set.Texts.parts(set.Texts.Languages)
	s.parts[set] = w
	return w
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
