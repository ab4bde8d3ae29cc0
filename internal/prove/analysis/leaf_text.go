package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// text searches a text: first among those that the conditions suggest, then, if
// none of them passes, through the product of all automata.
func (s *solver) text(q *leafQuery) (Value, status) {
	if s.thorough && len(q.in) > 0 {
		if v, st := s.multiply(q); st == absent || st == found && q.variable.welcomes(v) {
			return v, st
		}
	}
	complete := false // the suggestions are all there are
	var suggested []string
	for _, k := range q.in {
		if k.Named.Every {
			continue
		}
		t := &k.Named.Texts
		if t.Languages == nil && !t.Open && len(t.Below) == 0 {
			complete = true
			suggested = slices.Clone(t.Exact)
			break
		}
		suggested = append(suggested, t.Exact...)
		for _, text := range t.Below[:min(len(t.Below), 16)] {
			suggested = append(suggested, beginnings(text)...)
		}
	}
	languages := false
	for _, k := range q.in {
		if t := &k.Named.Texts; !k.Named.Every && t.Languages != nil && !complete {
			languages = true
			suggested = append(suggested, s.samples(q.variable, t)...)
		}
	}
	v, st := s.listed(q, texts(suggested))
	if languages && (st != found || !q.variable.welcomes(v)) { // they are worth a walk of their own
		for _, k := range q.in {
			if !k.Named.Every && k.Named.Texts.Languages != nil {
				suggested = append(suggested, s.shortest(q.variable, k)...)
			}
		}
		v, st = s.listed(q, texts(suggested))
	}
	if len(suggested) == 0 && !complete {
		v, st = s.listed(q, texts([]string{"x", "q7w9", "x.q7", ""}))
	}
	if complete && st == absent {
		return v, absent
	}
	if st == found && q.variable.welcomes(v) {
		return v, found
	}
	few := maps.Clone(q.blame)
	if s.coveredBeginning(q) || s.coveredByPair(q) || st == absent && s.coveredByFew(q, few) {
		return Value{}, absent
	}
	w, exact := s.multiply(q)
	if exact == found || st != found {
		return w, exact
	}
	return v, found
}

func texts(list []string) []Value {
	values := make([]Value, len(list))
	for i, text := range list {
		values[i] = Value{Kind: Text, Text: text}
	}
	return values
}

// samples are those of a set that are in a variable's domain.
func (s *solver) samples(v *Variable, t *Texts) []string {
	if t.Samples == nil {
		return nil
	}
	inside, outside := s.domain(v)
	return slices.DeleteFunc(t.Samples(), func(text string) bool {
		return slices.ContainsFunc(inside, func(w automaton.Walker) bool { return !walks(w, text) }) ||
			slices.ContainsFunc(outside, func(w automaton.Walker) bool { return walks(w, text) })
	})
}

// walks reports whether an automaton accepts a text.
func walks(w automaton.Walker, text string) bool {
	at := w.First()
	for _, r := range text {
		at = w.Next(at, r)
	}
	return w.Accepting(at)
}

// beginnings suggests texts that begin with one.
func beginnings(text string) []string {
	trimmed := strings.TrimSuffix(text, "/")
	if trimmed != text {
		return []string{text + "x", text + "q7/w9.z"}
	}
	return []string{text, text + "x", text + "q7/w9.z"}
}

// coveredBeginning is the common proof for prefixes: an earlier rule takes all that
// begins with them, or with a shorter one.
func (s *solver) coveredBeginning(q *leafQuery) bool {
	for _, k := range q.in {
		t := &k.Named.Texts
		if k.Named.Every || !t.literal() || len(t.Exact)+len(t.Below) == 0 {
			continue
		}
		by := blame{}
		covered := true
		for _, text := range t.Below {
			covered = covered && q.takenBelow(text, by)
		}
		for _, text := range t.Exact {
			covered = covered && q.takenText(text, by)
		}
		if covered {
			q.blame = by
			return true
		}
	}
	return false
}

func (q *leafQuery) takenBelow(text string, by blame) bool {
	for _, t := range q.taken {
		if rule := t.column.beginning(text, t.limit); rule != none {
			by[ruleID{t.list, rule}] = true
			return true
		}
	}
	return false
}

func (q *leafQuery) takenText(text string, by blame) bool {
	v := Value{Kind: Text, Text: text}
	for _, t := range q.taken {
		if rule := t.column.first(v, q.variable.Domain.odd(v), t.limit); rule != none {
			by[ruleID{t.list, rule}] = true
			return true
		}
	}
	return false
}

// coveredByPair asks about single earlier conditions: those with the same meaning, and
// those of which the caller knows more than automata do.
func (s *solver) coveredByPair(q *leafQuery) bool {
	for _, t := range q.taken {
		for _, e := range t.column.rest {
			if e.rule >= t.limit {
				break
			}
			for _, k := range q.in {
				if k.Key != "" && k.Key == e.condition.Key || s.pair(e.condition, k) {
					q.blame = blame{{t.list, e.rule}: true}
					return true
				}
			}
		}
	}
	return false
}

func (s *solver) pair(e, l *Condition) bool {
	if s.covers == nil || e.Set.Texts.Languages != nil && l.Named.Texts.Languages != nil || s.pairs <= 0 {
		return false
	}
	s.pairs--
	return s.covers(e, l) == regular.Yes
}

// shortest suggests the shortest texts of a condition's languages in a variable's
// domain.
func (s *solver) shortest(v *Variable, k *Condition) []string {
	if texts, ok := s.suggested[k]; ok {
		return texts
	}
	var texts []string
	if !s.describes(k.Named) {
		return nil
	}
	inside, _ := s.domain(v) // texts outside are rare, and excluded later
	p := s.product(append([]automaton.Walker{s.walker(k.Named)}, inside...), nil, nil)
	p.most = min(p.most, 2000)
	p.check = func(text string) bool {
		if x := (Value{Kind: Text, Text: text}); k.Holds(x) && v.admits(x) {
			texts = append(texts, text)
		}
		return len(texts) >= 2
	}
	p.search()
	s.suggested[k] = texts
	return texts
}

// multiply searches through the product of the automata of a query.
func (s *solver) multiply(q *leafQuery) (Value, status) {
	v, st := s.multiplied(q, nil)
	if st == absent && 1 < len(q.blame) && len(q.blame) <= fewRules {
		s.coveredByOne(q, q.blame)
	}
	return v, st
}

// coveredByFew tries a proof by the rules that took the suggested texts.
func (s *solver) coveredByFew(q *leafQuery, few blame) bool {
	if len(few) == 0 || len(few) > fewRules {
		return false
	}
	if s.coveredByOne(q, few) {
		return true
	}
	all := *q
	if _, st := s.multiplied(&all, few); len(few) == 1 || st != absent {
		return false
	}
	q.blame = all.blame
	return true
}

// coveredByOne tries a proof by each of some rules alone.
func (s *solver) coveredByOne(q *leafQuery, rules blame) bool {
	alone := slices.SortedFunc(maps.Keys(rules), func(a, b ruleID) int { return cmp.Or(a.list-b.list, int(a.rule-b.rule)) })
	for _, id := range alone {
		one := *q
		if _, st := s.multiplied(&one, blame{id: true}); st == absent {
			q.blame = one.blame
			return true
		}
	}
	return false
}

// fewRules is how many rules of a proof are tried alone.
const fewRules = 6

// multiplied takes away the values of all rules, or of some only.
func (s *solver) multiplied(q *leafQuery, only blame) (Value, status) {
	inside, outside := s.domain(q.variable)
	owners := make([]func(uint32) ruleID, len(outside))
	for i := range owners {
		owners[i] = noOwner
	}
	add := func(w automaton.Walker, owner func(uint32) ruleID) {
		outside, owners = append(outside, w), append(owners, owner)
	}
	head := ""
	asked := s.asked(q)
	for _, k := range asked {
		if h := k.Named.head(); len(h) > len(head) {
			head = h
		}
	}
	away := s.takers(q, head, only)
	by := blame{}
	for _, k := range asked {
		w, some := s.left(k, away, by)
		if !some {
			q.blame = by
			return Value{}, absent
		}
		inside = append(inside, w)
	}
	for _, t := range q.taken {
		for _, trie := range t.column.tries(head, t, only) {
			add(trie, func(state uint32) ruleID { return ruleID{t.list, trie.owner(state)} })
		}
	}
	for _, t := range away {
		list, some := s.takes(&t, asked)
		if !some {
			q.blame = blame{}
			if t.id.list != none {
				q.blame[t.id] = true
			}
			return Value{}, absent
		}
		for _, w := range list {
			add(w, func(uint32) ruleID { return t.id })
		}
	}
	var second *Value
	check := func(text string) bool {
		v := Value{Kind: Text, Text: text}
		if !q.passes(v) {
			return false
		}
		if q.variable.welcomes(v) {
			return true
		}
		if second == nil {
			second = &v
		}
		return false
	}
	if only == nil && len(asked) > 0 { // most of the texts are often taken by no rule
		p := s.product(inside, nil, nil)
		p.check, p.most = check, min(p.most, fewStates)
		if text, st := p.search(); st == found {
			return Value{Kind: Text, Text: text}, found
		}
	}
	p := s.product(inside, outside, owners)
	p.check = check
	text, st := p.search()
	switch {
	case st == found:
		return Value{Kind: Text, Text: text}, found
	case second != nil:
		return *second, found
	case st == absent:
		// The automata of the query hold all its texts, and those that take away hold no
		// more than their rules do.
		q.blame = by
		for id := range p.blame {
			if id.list != none {
				q.blame[id] = true
			}
		}
	}
	return Value{}, st
}

// fewStates bounds the search that leaves out the languages that are taken away.
const fewStates = 1_000

// noOwner is the owner of texts that no rule takes away.
func noOwner(uint32) ruleID { return ruleID{list: none} }

func compatibleHead(t *Texts, head string) bool {
	if t.Folded {
		head = foldASCII(head)
	}
	return compatible(t.Head, head)
}

// head is the beginning of every text of a set.
func (s *Set) head() string {
	t := &s.Texts
	switch {
	case t.Open || t.Folded:
		return ""
	case t.Languages != nil && len(t.Exact)+len(t.Below) == 0:
		return t.Head
	case t.Languages == nil && len(t.Exact) == 0 && len(t.Below) == 1:
		return t.Below[0]
	case t.Languages == nil && len(t.Below) == 0 && len(t.Exact) == 1:
		return t.Exact[0]
	}
	return ""
}

// tries collects the literals that a text with a head may meet: of the rules below
// the limit, or only of some.
func (c *column) tries(head string, from taken, only blame) []*trie {
	var out []*trie
	for i, t := range c.tables {
		folded := i == 1
		if folded {
			head = foldASCII(head)
		}
		var tr *trie
		for _, list := range []struct {
			keys  map[string]int32
			below bool
		}{{t.exact, false}, {t.below, true}} {
			for text, rule := range list.keys {
				if rule >= from.limit || only != nil && !only[ruleID{from.list, rule}] || !compatible(text, head) || !list.below && len(text) < len(head) {
					continue
				}
				if tr == nil {
					tr = newTrie(folded)
				}
				if list.below {
					tr.addBelow(text, rule)
				} else {
					tr.addExact(text, rule)
				}
			}
		}
		if tr != nil {
			out = append(out, tr)
		}
	}
	return out
}
