package analysis

import (
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// cell is the set of calls in which given rules of some lists decide: all of their
// conditions hold, and no rule above them in its list does.
type cell struct {
	*solver
	rules  []*Rule // one of each list; nil: the end of the list decides
	limits []int32 // how many rules are above it

	in       [][]*Condition // by variable
	out      [][]*Condition
	choices  []Choice
	branches int
	by       blame // the rules that the proof so far depends on
}

// solve searches a call in the cell.
func (c *cell) solve() Finding {
	n := len(c.variables)
	c.in, c.out, c.choices = make([][]*Condition, n), make([][]*Condition, n), make([]Choice, n)
	c.branches, c.by = c.budget.Branches, blame{}
	for _, r := range c.rules {
		if r == nil {
			continue
		}
		for i := range r.Conditions {
			k := &r.Conditions[i]
			c.in[k.Variable] = append(c.in[k.Variable], k)
		}
	}
	for i, l := range c.lists {
		if l.catchAll != none && l.catchAll < c.limits[i] {
			return Finding{Answer: regular.No, By: []int{int(l.catchAll)}, Variable: none}
		}
	}
	// The variables that the rules look at come first: a proof is best found there.
	order := make([]int, 0, n)
	for v := range n {
		if len(c.in[v]) > 0 {
			order = append(order, v)
		}
	}
	for v := range n {
		if len(c.in[v]) == 0 {
			order = append(order, v)
		}
	}
	open := false
	for _, v := range order {
		switch c.choose(v) {
		case absent:
			return Finding{Answer: regular.No, By: rulesOf(c.by), Variable: v}
		case unknown:
			open = true
		}
	}
	if open {
		return Finding{Variable: none}
	}
	switch c.around() {
	case found:
		return Finding{Answer: regular.Yes, Witness: c.choices, Variable: none}
	case absent:
		return Finding{Answer: regular.No, By: rulesOf(c.by), Variable: none}
	}
	return Finding{Variable: none}
}

// choose searches a choice for one variable.
func (c *cell) choose(v int) status {
	if len(c.in[v])+len(c.out[v]) == 0 && c.untouched(v) {
		return found
	}
	q := choiceQuery{at: v, in: c.in[v], out: c.out[v]}
	for i, l := range c.lists {
		q.taken = append(q.taken, seen{l.number, l.indexes[v], c.limits[i]})
	}
	choice, st := c.solver.choose(&q)
	switch st {
	case found:
		c.choices[v] = choice
	case absent:
		c.by.add(q.blame)
	}
	return st
}

// untouched takes the choice for a variable that the rules of the cell do not look
// at: the choice of an earlier cell is good as long as no rule further up takes it.
func (c *cell) untouched(v int) bool {
	for _, r := range c.rest[v] {
		good := true
		for i, l := range c.lists {
			good = good && c.limits[i] <= r.seen[i].extend(l.indexes[v], &c.variables[v], &r.choice)
		}
		if good {
			c.choices[v] = r.choice
			return true
		}
	}
	q := choiceQuery{at: v}
	for i, l := range c.lists {
		q.taken = append(q.taken, seen{l.number, l.indexes[v], c.limits[i]})
	}
	choice, st := c.solver.choose(&q)
	if st != found {
		return false
	}
	c.rest[v] = append(c.rest[v], &rested{choice: choice, seen: make([]upTo, len(c.lists))})
	c.choices[v] = choice
	return true
}

// rested is a choice for a variable without conditions, to be used again.
type rested struct {
	choice Choice
	seen   []upTo // by list
}

// upTo is how far a list has been held against a choice.
type upTo struct {
	any, all, others int
	first            int32 // the first rule that takes the choice; 0: none so far
	hit              bool
}

// extend returns the first rule of an index that takes a choice. Rules may have been
// added since it was asked last.
func (u *upTo) extend(x *index, v *Variable, c *Choice) int32 {
	for _, list := range []struct {
		entries []entry
		done    *int
	}{{x.any.entries, &u.any}, {x.all.entries, &u.all}, {x.others, &u.others}} {
		for ; *list.done < len(list.entries); *list.done++ {
			e := list.entries[*list.done]
			if u.hit && e.rule >= u.first {
				continue
			}
			if e.condition.Subject == Opaque || e.condition.holds(v, c) {
				u.first, u.hit = e.rule, true
			}
		}
	}
	if !u.hit {
		return 1<<31 - 1
	}
	return u.first
}

// around finds a way around the rules with several conditions. If one of them fires
// on the choices made, each of its conditions is forbidden in turn.
func (c *cell) around() status {
	list, rule := c.firing()
	if rule == none {
		return found
	}
	if c.branches--; c.branches < 0 {
		return unknown
	}
	result := absent
	r := &c.lists[list].rules[rule]
	for i := range r.Conditions {
		k := &r.Conditions[i]
		if slices.Contains(c.in[k.Variable], k) || k.Subject == Opaque {
			if k.Subject == Opaque {
				result = unknown
			}
			continue
		}
		before := c.choices[k.Variable]
		c.out[k.Variable] = append(c.out[k.Variable], k)
		st := c.choose(k.Variable)
		if st == found {
			st = c.around()
		}
		if st == found {
			return found
		}
		if st == unknown {
			result = unknown
		}
		c.out[k.Variable] = c.out[k.Variable][:len(c.out[k.Variable])-1]
		c.choices[k.Variable] = before
	}
	c.by[ruleID{list, rule}] = true
	return result
}

// firing returns the first rule with several conditions, of any list, that matches
// the choices made and is above the cell.
func (c *cell) firing() (list int, rule int32) {
	for i, l := range c.lists {
		n := l.compounds.first(c.choices, c.limits[i], func(rule int32) bool { return c.fires(&l.rules[rule]) })
		if n != none {
			return i, n
		}
	}
	return none, none
}

func (c *cell) fires(r *Rule) bool {
	for i := range r.Conditions {
		k := &r.Conditions[i]
		if k.Subject == Opaque {
			if c.choices[k.Variable].Absent {
				return false
			}
			continue // it may hold
		}
		if !k.holds(&c.variables[k.Variable], &c.choices[k.Variable]) {
			return false
		}
	}
	return true
}
