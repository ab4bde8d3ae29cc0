package analysis

import (
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Meet looks for calls in which two of a policy's deciders end the call, each with another
// mode: a rule and a guard, or two guards. Which of them answers is decided by something
// that this package does not know, the order of the arguments. Modes up to ends end a call.
//
// Such calls are handed to visit, those first in which another rule decides the list of the
// other policy, or no guard holds there, until visit has seen enough of them. The answer is No
// if there are proved to be none.
func Meet(list List, before, after *Policy, ends int, b Budget, visit func(witness []Choice) (enough bool)) regular.Answer {
	sides := [2]*orderedPolicy{sorted(before), sorted(after)}
	m := &meet{solver: newSolver(list, b, sides[0].Rules, sides[0].Guards, sides[1].Rules, sides[1].Guards)}
	for _, l := range m.lists {
		for i := range l.rules {
			l.add(list.Variables, int32(i))
		}
	}
	m.pairs = m.budget.Cells
	answer := regular.No
	for side, o := range sides {
		others := sides[1-side].listOutcomes()
		for _, x := range o.meetings(list.Variables, ends) {
			f, ok := m.solve(side, &x, &outcome{})
			switch {
			case !ok || f.Answer == regular.NotProven:
				if answer == regular.No {
					answer = regular.NotProven
				}
				continue
			case f.Answer == regular.No:
				continue
			}
			if answer = regular.Yes; visit(f.Witness) {
				return answer
			}
			for i := range others {
				if !x.edited && others[i].edit == none {
					continue
				}
				if f, _ := m.solve(side, &x, &others[i]); f.Answer == regular.Yes && visit(f.Witness) {
					return answer
				}
			}
		}
	}
	return answer
}

// meet is the state of [Meet].
type meet struct {
	*solver
	pairs int
}

// solve searches a call in which two deciders of one side meet, and of which something is
// known on the other side.
func (m *meet) solve(side int, x *meeting, y *outcome) (Finding, bool) {
	if m.pairs--; m.pairs < 0 {
		return Finding{}, false
	}
	c := &cell{solver: m.solver, rules: make([]*Rule, 4), limits: make([]int32, 4)}
	c.rules[2*side], c.limits[2*side], c.rules[2*side+1] = x.rule, x.ruleLimit, &x.guard
	other := 2 * (1 - side)
	c.rules[other], c.limits[other], c.limits[other+1] = y.rule, y.ruleLimit, y.guardLimit
	return c.solve(), true
}

// listOutcomes lists the deciders of the list: with any guards, and with none that matches.
func (o *orderedPolicy) listOutcomes() (list []outcome) {
	for _, guards := range []int32{0, int32(len(o.Guards))} {
		for i := -1; i < len(o.Rules); i++ {
			if !o.skipped(i) {
				out := o.withList(outcome{edit: none}, i)
				out.guardLimit = guards
				list = append(list, out)
			}
		}
	}
	return list
}

// meeting is two deciders of one policy in one call: a guard, and a rule that decides the
// list or another guard.
type meeting struct {
	guard     Rule // with the conditions of both guards
	rule      *Rule
	ruleLimit int32
	edited    bool // one of them is, or edits are not known
}

// meetings lists the pairs of deciders that may meet.
func (o *orderedPolicy) meetings(variables []Variable, ends int) []meeting {
	var list []meeting
	for g := range o.Guards {
		mode := o.GuardModes[g]
		if mode > ends {
			continue
		}
		for i := range o.Rules {
			if m := o.Modes[i]; m <= ends && m != mode && !o.Rules[i].Skip && !atOnce(variables, o.Guards[g].Conditions, o.Rules[i].Conditions) {
				list = append(list, meeting{o.Guards[g], &o.Rules[i], int32(i), o.edited(g) || o.Edits == nil || o.Edits[i] != none})
			}
		}
		for h := range g {
			if m := o.GuardModes[h]; m != mode && !atOnce(variables, o.Guards[g].Conditions, o.Guards[h].Conditions) {
				both := Rule{Conditions: slices.Concat(o.Guards[g].Conditions, o.Guards[h].Conditions)}
				list = append(list, meeting{guard: both, edited: o.edited(g) || o.edited(h)})
			}
		}
	}
	return list
}

// atOnce reports conditions of two deciders that are answered at the same time.
func atOnce(variables []Variable, lists ...[]Condition) bool {
	at := none
	for _, list := range lists {
		for i := range list {
			k := &list[i]
			if !k.AtEnd || variables[k.Variable].Several || at != none && at != k.Variable {
				return false
			}
			at = k.Variable
		}
	}
	return at != none
}

// edited reports a guard that only one policy has. If edits are not known, all may be.
func (o *orderedPolicy) edited(g int) bool { return o.GuardEdits == nil || o.guardEdit(g) != none }
