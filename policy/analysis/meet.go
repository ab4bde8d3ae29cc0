package analysis

import (
	"slices"

	"github.com/stopgate/stopgate/policy/match"
)

// Meet looks for calls in which two of a policy's deciders end the call, each with another
// mode: a rule and a guard, or two guards. Which of them answers is decided by something
// that this package does not know, the order of the arguments. Modes up to ends end a call.
//
// Such calls are handed to visit: of each two deciders several, until visit says that it has
// seen enough of them. The answer is No if there are proved to be none.
func Meet(list List, before, after *Policy, ends int, b Budget, visit func(witness []Choice) (enough bool)) match.Answer {
	sides := [2]*orderedPolicy{sorted(before), sorted(after)}
	s := newSolver(list, b, sides[0].Rules, sides[0].Guards, sides[1].Rules, sides[1].Guards)
	for _, l := range s.lists {
		for i := range l.rules {
			l.add(list.Variables, int32(i))
		}
	}
	answer, pairs := match.No, s.budget.Cells
	solve := func(side int, x meeting, y outcome) (Finding, bool) {
		if pairs--; pairs < 0 {
			return Finding{}, false
		}
		c := &cell{solver: s, rules: make([]*Rule, 4), limits: make([]int32, 4)}
		c.rules[2*side], c.limits[2*side], c.rules[2*side+1] = x.rule, x.ruleLimit, &x.guard
		other := 2 * (1 - side)
		c.rules[other], c.limits[other], c.rules[other+1], c.limits[other+1] = y.rule, y.ruleLimit, y.guard, y.guardLimit
		return c.solve(), true
	}
	for side, o := range sides {
		others := sides[1-side].outcomes()
		for _, x := range o.meetings(ends) {
			f, ok := solve(side, x, outcome{})
			switch {
			case !ok || f.Answer == match.NotProven:
				if answer == match.No {
					answer = match.NotProven
				}
				continue
			case f.Answer == match.No:
				continue
			}
			answer = match.Yes
			enough := visit(f.Witness)
			for i := 0; i < len(others) && !enough; i++ {
				if f, _ := solve(side, x, others[i]); f.Answer == match.Yes {
					enough = visit(f.Witness)
				}
			}
		}
	}
	return answer
}

// meeting is two deciders of one policy in one call: a guard, and a rule that decides the
// list or another guard.
type meeting struct {
	guard     Rule // with the conditions of both guards
	rule      *Rule
	ruleLimit int32
}

// meetings lists what may meet.
func (o *orderedPolicy) meetings(ends int) []meeting {
	var list []meeting
	for g := range o.Guards {
		mode := o.GuardModes[g]
		if mode > ends {
			continue
		}
		for i := range o.Rules {
			if m := o.Modes[i]; m <= ends && m != mode && !o.Rules[i].Skip {
				list = append(list, meeting{guard: o.Guards[g], rule: &o.Rules[i], ruleLimit: int32(i)})
			}
		}
		for h := range g {
			if m := o.GuardModes[h]; m != mode {
				list = append(list, meeting{guard: Rule{Conditions: slices.Concat(o.Guards[g].Conditions, o.Guards[h].Conditions)}})
			}
		}
	}
	return list
}
