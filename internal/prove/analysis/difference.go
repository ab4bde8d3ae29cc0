package analysis

import (
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Two conditions that were made from nearly the same values have nearly the same languages:
// the difference depends only on the few that one of them lacks.

// taker is a set whose texts are taken away, and the rule that takes them.
type taker struct {
	set *Set
	id  ruleID // of no list: a condition of the query
}

// asked are the conditions of a query whose automata hold all that they name.
func (s *solver) asked(q *leafQuery) []*Condition {
	return slices.DeleteFunc(slices.Clone(q.in), func(k *Condition) bool {
		return k.Named.Every || k.Named.Texts.Open || !s.describes(k.Named)
	})
}

// takers are the sets that a query takes away: of all rules, or only of some.
func (s *solver) takers(q *leafQuery, head string, only blame) (list []taker) {
	for _, k := range q.out {
		list = append(list, taker{k.Set, ruleID{list: none}})
	}
	for _, t := range q.taken {
		for _, e := range t.column.rest {
			id := ruleID{t.list, e.rule}
			if e.rule < t.limit && compatibleHead(&e.condition.Set.Texts, head) && (only == nil || only[id]) {
				list = append(list, taker{e.condition.Set, id})
			}
		}
	}
	return list
}

// left returns the automaton of the texts that a condition names without the languages that
// earlier rules take completely. It adds these rules to by, and reports false if no text is left.
func (s *solver) left(k *Condition, away []taker, by blame) (automaton.Walker, bool) {
	t := &k.Named.Texts
	if t.All {
		return s.walker(k.Named), true
	}
	some := slices.DeleteFunc(slices.Clone(t.Languages), func(l Language) bool {
		for _, other := range away {
			if !other.set.Texts.All && other.set.has(l) {
				if other.id.list != none {
					by[other.id] = true
				}
				return true
			}
		}
		return false
	})
	if len(some) == len(t.Languages) {
		return s.walker(k.Named), true
	}
	return t.walker(some), len(some)+len(t.Exact)+len(t.Below) > 0
}

// has reports a language of a set.
func (s *Set) has(l Language) bool {
	return l.Key != nil && slices.ContainsFunc(s.Texts.Languages, func(m Language) bool { return m.Key == l.Key })
}

// takes returns the automata of the texts that a taker removes from those that conditions name.
// It reports false if it removes all: they are in all languages of the taker.
func (s *solver) takes(t *taker, asked []*Condition) ([]automaton.Walker, bool) {
	if !t.set.Texts.All {
		return s.taken(t), true
	}
	some := slices.DeleteFunc(slices.Clone(t.set.Texts.Languages), func(l Language) bool {
		return slices.ContainsFunc(asked, func(k *Condition) bool { return k.Named.Texts.All && k.Named.has(l) })
	})
	if len(some) == 0 {
		return nil, false
	}
	if len(some) == len(t.set.Texts.Languages) {
		return s.taken(t), true
	}
	return t.set.Texts.parts(some), true
}

// taken returns the automata of all that is taken away: of a condition of the query with its
// literals, which of rules are in tries.
func (s *solver) taken(t *taker) []automaton.Walker {
	if t.id.list == none {
		return []automaton.Walker{s.walker(t.set)}
	}
	return s.languages(t.set)
}
