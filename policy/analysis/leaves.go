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

// withLeaves builds a list. Every leaf avoids what forbids any leaf; each condition
// that wants one leaf gets one, and each that takes lists of its own leaves only is
// shown one of another kind, or a branch without a leaf.
func (s *solver) withLeaves(q *choiceQuery, v *Variable) (Choice, status) {
	base := leafQuery{variable: v}
	var wanted, closed []*Condition
	for _, k := range q.in {
		switch leaf := k.Subject == Leaves || k.Subject == Present && k.Present; {
		case leaf && k.All:
			base.in = append(base.in, k)
		case leaf:
			wanted = append(wanted, k)
		}
	}
	for _, k := range q.out {
		switch leaf := k.Subject == Leaves || k.Subject == Present && k.Present; {
		case leaf && k.All:
			closed = append(closed, k)
		case leaf:
			base.out = append(base.out, k)
		}
	}
	for _, t := range q.taken {
		base.taken = append(base.taken, taken{t.list, t.index.any, t.limit})
	}
	var c Choice
	result := found
	add := func(l *leafQuery) bool {
		x, st := s.leaf(l)
		if st != found {
			q.blame.add(l.blame)
			result = st
			return false
		}
		if !slices.Contains(c.Leaves, x) {
			c.Leaves = append(c.Leaves, x)
		}
		return true
	}
	open, everything := s.openings(q, &base, closed)
	hole := v.Holes && len(base.in) == 0 && len(open)+len(closed) > 0
	for _, k := range wanted {
		one := base
		one.in = append(slices.Clone(base.in), k)
		if !hole && len(open)+len(closed) > 0 { // a leaf that shows all of them wrong at once
			both := everything
			both.in = one.in
			if x, st := s.leaf(&both); st == found {
				c.Leaves = append(c.Leaves, x)
				open, closed = nil, nil
				continue
			}
		}
		if !add(&one) {
			return Choice{}, result
		}
	}
	c.Hole = hole
	if !hole && len(open)+len(closed) > 0 {
		if x, st := s.leaf(&everything); st == found {
			c.Leaves = append(c.Leaves, x)
			open, closed = nil, nil
		}
	}
	if !hole {
		if len(open)+len(closed) > apart {
			return Choice{}, unknown
		}
		for _, e := range open {
			if slices.ContainsFunc(c.Leaves, func(x Value) bool { return !e.condition.has(x, v.Domain.odd(x)) }) {
				continue
			}
			other := base
			other.out = append(slices.Clone(base.out), e.condition)
			if !add(&other) {
				q.blame[ruleID{e.list, e.rule}] = true
				return Choice{}, result
			}
		}
		for _, k := range closed {
			other := base
			other.out = append(slices.Clone(base.out), k)
			if !slices.ContainsFunc(c.Leaves, func(x Value) bool { return !k.has(x, v.Domain.odd(x)) }) && !add(&other) {
				return Choice{}, result
			}
		}
	}
	if len(c.Leaves) == 0 && !c.Hole && !add(&base) {
		return Choice{}, result
	}
	return s.counted(q, v, c)
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

// repeated makes a list n elements long and asks whether it is what is asked for.
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
