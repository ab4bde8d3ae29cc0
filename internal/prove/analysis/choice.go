package analysis

import "slices"

// Choice is the value of a witness at one variable.
type Choice struct {
	// Absent: no value. Null: null. Otherwise Leaves, with one branch more that has no
	// leaf if Hole is set; no leaves and no hole is an empty array.
	Absent, Null, Hole bool
	Leaves             []Value
}

// holds evaluates a condition by its quantifier, K5 and B9.
func (k *Condition) holds(v *Variable, c *Choice) bool {
	empty := c.Absent || c.Null || len(c.Leaves) == 0
	fallback := c.Absent && (v.Default != nil || v.DefaultNull)
	if k.Subject == Present {
		return k.presence(v, c, empty, fallback)
	}
	if k.Subject == Count {
		n := len(c.Leaves)
		return !c.Absent && !c.Null && n >= k.AtLeast && (k.AtMost < 0 || n <= k.AtMost) && (n > 0 || !k.All)
	}
	switch {
	case c.Null, c.Absent && v.DefaultNull:
		return k.Null
	case fallback && !k.Permissive:
		return k.has(*v.Default, v.Domain.odd(*v.Default))
	case empty:
		return false
	}
	for _, x := range c.Leaves {
		if k.has(x, v.Domain.odd(x)) != k.All {
			return !k.All
		}
	}
	return k.All && !c.Hole
}

// presence: null, an empty array and a default count as present and as absent for
// restrictive conditions, as neither for permissive ones (K5). A condition that requires a
// value does not hold for null.
func (k *Condition) presence(v *Variable, c *Choice, empty, fallback bool) bool {
	if k.Value && (c.Null || c.Absent && v.DefaultNull) {
		return false
	}
	if c.Null || fallback || empty && !c.Absent && !c.Hole {
		return !k.Permissive
	}
	switch {
	case k.Present && k.All:
		return !empty && !c.Hole
	case k.Present:
		return !empty
	case k.All:
		return empty
	}
	return empty || c.Hole
}

// choiceQuery asks for a choice at a variable under which some conditions hold,
// others do not, and none of the earlier rules with one condition does.
type choiceQuery struct {
	at    int // the variable
	in    []*Condition
	out   []*Condition
	taken []seen
	blame blame
}

// seen is the rules of one list with one condition on a variable, below a limit.
type seen struct {
	list  int
	index *index
	limit int32
}

// index holds the rules of one list that have one condition, on one variable.
type index struct {
	any, all *column // conditions that one leaf, or only all leaves, can satisfy
	others   []entry // that ask about something else than leaves
	absent   []entry // that hold for an absent value
	null     []entry // and for null
	hollow   []entry // and for an empty array
}

func (x *index) add(v *Variable, rule int32, k *Condition) {
	if v.Optional && k.Subject != Opaque && k.holds(v, &Choice{Absent: true}) {
		x.absent = append(x.absent, entry{rule, k})
	}
	if v.Null && k.Subject != Opaque && k.holds(v, &Choice{Null: true}) {
		x.null = append(x.null, entry{rule, k})
	}
	if v.Several && k.Subject != Opaque && k.holds(v, &Choice{}) {
		x.hollow = append(x.hollow, entry{rule, k})
	}
	switch {
	case k.Subject != Leaves && (k.Subject != Present || !k.Present):
		x.others = append(x.others, entry{rule, k})
	case k.All && v.Several:
		x.all.add(rule, k)
	default:
		x.any.add(rule, k)
	}
}

// firstOf returns the first rule of a list below a limit, none if there is none.
func firstOf(list []entry, limit int32) int32 {
	first := limit
	for _, e := range list {
		first = min(first, e.rule)
	}
	if first == limit {
		return none
	}
	return first
}

// choose searches a choice.
func (s *solver) choose(q *choiceQuery) (Choice, status) {
	q.blame = blame{}
	v := &s.variables[q.at]
	for _, k := range q.in {
		if k.Subject == Opaque {
			return Choice{}, unknown
		}
	}
	result := absent
	looked := len(q.in) > 0
	try := func(f func(*choiceQuery, *Variable) (Choice, status)) (Choice, bool) {
		c, st := f(q, v)
		if st == unknown {
			result = unknown
		}
		return c, st == found
	}
	steps := []func(*choiceQuery, *Variable) (Choice, status){s.withoutValue, s.withValue}
	if looked {
		slices.Reverse(steps)
	}
	for _, f := range steps {
		if c, ok := try(f); ok {
			return c, found
		}
	}
	return Choice{}, result
}

// satisfied checks a choice against everything that is asked for. Rules of the
// indexes that ask about leaves are not asked again.
func (q *choiceQuery) satisfied(v *Variable, c *Choice) (ok, certain bool) {
	for _, k := range q.in {
		if !k.holds(v, c) {
			return false, true
		}
	}
	for _, k := range q.out {
		if k.Subject == Opaque {
			return false, false
		}
		if k.holds(v, c) {
			return false, true
		}
	}
	hit, blamed := ruleID{list: none}, false // one rule is enough, best one that is named already
	for _, t := range q.taken {
		for _, e := range t.index.others {
			switch {
			case e.rule >= t.limit:
			case e.condition.Subject == Opaque && !c.Absent:
				return false, false
			case e.condition.Subject != Opaque && e.condition.holds(v, c):
				id := ruleID{t.list, e.rule}
				if hit.list == none {
					hit = id
				}
				blamed = blamed || q.blame[id]
			}
		}
	}
	if hit.list != none {
		if !blamed {
			q.blame[hit] = true
		}
		return false, true
	}
	return true, true
}

// withoutValue tries absence, null and, for an array, emptiness.
func (s *solver) withoutValue(q *choiceQuery, v *Variable) (Choice, status) {
	result := absent
	for _, form := range []struct {
		possible bool
		choice   Choice
	}{{v.Optional, Choice{Absent: true}}, {v.Null, Choice{Null: true}}, {v.Several && v.AtLeast == 0, Choice{}}} {
		if !form.possible {
			continue
		}
		ok, certain := q.satisfied(v, &form.choice)
		if !certain {
			result = unknown
		}
		if !ok {
			continue
		}
		blocked := false
		for _, t := range q.taken {
			list := t.index.hollow
			switch {
			case form.choice.Absent:
				list = t.index.absent
			case form.choice.Null:
				list = t.index.null
			}
			if rule := firstOf(list, t.limit); rule != none {
				q.blame[ruleID{t.list, rule}] = true
				blocked = true
			}
		}
		if !blocked {
			return form.choice, found
		}
	}
	return Choice{}, result
}
