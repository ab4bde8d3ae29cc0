package analysis

import "slices"

// withValue tries one leaf, or several where there may be.
func (s *solver) withValue(q *choiceQuery, v *Variable) (Choice, status) {
	if v.Several {
		return s.withLeaves(q, v)
	}
	leaf := leafQuery{variable: v, out: leavesOf(q.out)}
	for _, k := range q.in {
		switch {
		case k.Subject == Leaves:
			leaf.in = append(leaf.in, k)
		case k.Subject == Present && !k.Present, k.Subject == Count:
			return Choice{}, absent
		}
	}
	for _, k := range q.out {
		if k.Subject == Present && k.Present {
			return Choice{}, absent
		}
	}
	for _, t := range q.taken {
		leaf.taken = append(leaf.taken, taken{t.list, t.index.any, t.limit})
	}
	x, st := s.leaf(&leaf)
	q.blame.add(leaf.blame)
	if st != found {
		return Choice{}, st
	}
	c := Choice{Leaves: []Value{x}}
	if ok, certain := q.satisfied(v, &c); !ok {
		if certain {
			return Choice{}, absent // only the presence of a value was asked about
		}
		return Choice{}, unknown
	}
	return c, found
}

// leavesOf returns the conditions that ask about leaves.
func leavesOf(list []*Condition) []*Condition {
	return slices.DeleteFunc(slices.Clone(list), func(k *Condition) bool { return k.Subject != Leaves })
}

// apart is how many conditions that want all leaves are met one by one.
const apart = 64

// leafConditions divides the conditions of a query that ask about leaves, or about one
// being present: those that every leaf has to satisfy, those that need one leaf that satisfies
// them, and those that need one that does not.
func (q *choiceQuery) leafConditions(v *Variable) (every leafQuery, wanted, closed []*Condition) {
	every.variable = v
	asksLeaf := func(k *Condition) bool { return k.Subject == Leaves || k.Subject == Present && k.Present }
	for _, k := range q.in {
		switch {
		case !asksLeaf(k):
		case k.All:
			every.in = append(every.in, k)
		default:
			wanted = append(wanted, k)
		}
	}
	for _, k := range q.out {
		switch {
		case !asksLeaf(k):
		case k.All:
			closed = append(closed, k)
		default:
			every.out = append(every.out, k)
		}
	}
	for _, t := range q.taken {
		every.taken = append(every.taken, taken{t.list, t.index.any, t.limit})
	}
	return every, wanted, closed
}

// leafList is a list that is being built.
type leafList struct {
	s      *solver
	q      *choiceQuery
	choice Choice
	failed status // why a leaf that is needed could not be found
}

// add appends a leaf that a query finds.
func (l *leafList) add(query *leafQuery) bool {
	x, st := l.s.leaf(query)
	if st != found {
		l.q.blame.add(query.blame)
		l.failed = st
		return false
	}
	if !slices.Contains(l.choice.Leaves, x) {
		l.choice.Leaves = append(l.choice.Leaves, x)
	}
	return true
}

// try appends a leaf that would be convenient.
func (l *leafList) try(query *leafQuery) bool {
	x, st := l.s.leaf(query)
	if st == found {
		l.choice.Leaves = append(l.choice.Leaves, x)
	}
	return st == found
}

// violates reports whether some leaf shows that a condition does not hold for all.
func (l *leafList) violates(k *Condition, v *Variable) bool {
	return slices.ContainsFunc(l.choice.Leaves, func(x Value) bool { return !k.has(x, v.Domain.odd(x)) })
}

// withLeaves builds a list. Every leaf avoids the values that any condition forbids; each condition
// that wants one leaf gets one, and each that takes lists of its own leaves only is
// shown one of another kind, or a branch without a leaf.
func (s *solver) withLeaves(q *choiceQuery, v *Variable) (Choice, status) {
	base, wanted, closed := q.leafConditions(v)
	open, everything := s.openings(q, &base, closed)
	l := leafList{s: s, q: q}
	hole := v.Holes && len(base.in) == 0 && len(open)+len(closed) > 0
	l.choice.Hole = hole
	unshown := func() bool { return !hole && len(open)+len(closed) > 0 }
	for _, k := range wanted {
		one := base
		one.in = append(slices.Clone(base.in), k)
		if unshown() { // a leaf that shows all of them wrong at once
			both := everything
			both.in = one.in
			if l.try(&both) {
				open, closed = nil, nil
				continue
			}
		}
		if !l.add(&one) {
			return Choice{}, l.failed
		}
	}
	if unshown() && l.try(&everything) {
		open, closed = nil, nil
	}
	if unshown() {
		if st := l.showEach(&base, v, open, closed); st != found {
			return Choice{}, st
		}
	}
	if len(l.choice.Leaves) == 0 && !hole && !l.add(&base) {
		return Choice{}, l.failed
	}
	return s.counted(q, v, l.choice)
}

// showEach gives every condition that wants all leaves one that it does not have.
func (l *leafList) showEach(base *leafQuery, v *Variable, open []openEntry, closed []*Condition) status {
	if len(open)+len(closed) > apart {
		return unknown
	}
	show := func(k *Condition) bool {
		if l.violates(k, v) {
			return true
		}
		other := *base
		other.out = append(slices.Clone(base.out), k)
		return l.add(&other)
	}
	for _, e := range open {
		if !show(e.condition) {
			l.q.blame[ruleID{e.list, e.rule}] = true
			return l.failed
		}
	}
	for _, k := range closed {
		if !show(k) {
			return l.failed
		}
	}
	return found
}

// openEntry is a rule of a list that wants all leaves.
type openEntry struct {
	entry
	list int
}

// openings lists the rules that have to be shown another leaf, and a query for one
// that shows them all.
func (s *solver) openings(q *choiceQuery, base *leafQuery, closed []*Condition) (open []openEntry, everything leafQuery) {
	everything = *base
	everything.taken = slices.Clone(base.taken)
	everything.out = append(slices.Clone(base.out), closed...)
	for _, t := range q.taken {
		for _, e := range t.index.all.entries {
			if e.rule < t.limit {
				open = append(open, openEntry{e, t.list})
			}
		}
		everything.taken = append(everything.taken, taken{t.list, t.index.all, t.limit})
	}
	return open, everything
}

// counted brings a list to a number of elements that all conditions on the number
// agree with, by repeating its last leaf.
func (s *solver) counted(q *choiceQuery, v *Variable, c Choice) (Choice, status) {
	least := max(len(c.Leaves), v.AtLeast)
	result := absent
	limits := []int{least}
	note := func(k *Condition) {
		if k.Subject == Count {
			limits = append(limits, k.AtLeast, k.AtMost+1)
		}
	}
	for _, k := range slices.Concat(q.in, q.out) {
		note(k)
	}
	for _, t := range q.taken {
		for _, e := range t.index.others {
			note(e.condition)
		}
	}
	slices.Sort(limits)
	for _, hole := range []bool{false, true} {
		if c.Hole && !hole || hole && !c.Hole && !v.Holes {
			continue
		}
		for _, n := range slices.Compact(limits) {
			longer := Choice{Hole: hole, Leaves: slices.Clone(c.Leaves)}
			switch ok, certain := repeated(q, v, &longer, n); {
			case ok:
				return longer, found
			case !certain:
				result = unknown
			}
		}
	}
	if len(c.Leaves) > 1 || c.Hole {
		result = unknown // other leaves might do with fewer elements
	}
	return Choice{}, result
}

// repeated makes a list n elements long and reports whether it satisfies the query.
func repeated(q *choiceQuery, v *Variable, c *Choice, n int) (ok, certain bool) {
	const most = 10_000
	switch {
	case n < len(c.Leaves) || n < v.AtLeast || v.AtMost >= 0 && n > v.AtMost:
		return false, n < v.AtLeast || v.AtMost < 0 || len(c.Leaves) <= v.AtMost
	case n > most:
		return false, false
	}
	for len(c.Leaves) < n && len(c.Leaves) > 0 {
		c.Leaves = append(c.Leaves, c.Leaves[len(c.Leaves)-1])
	}
	return q.satisfied(v, c)
}
