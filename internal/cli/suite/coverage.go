package suite

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
)

// ruleKey identifies a rule across suites: ids contain table, list and text.
type ruleKey struct {
	file string
	id   stopgate.RuleID
}

func (r *Report) reachRule(ref *stopgate.RuleRef) {
	if ref != nil {
		r.reached[ruleKey{ref.File, ref.ID}] = true
	}
}

// reach records the rules that matched. A call that is refused for its form reaches no rules.
func (r *Report) reach(x eval.Explanation) {
	if x.Verdict.Layer == stopgate.LayerIntegrity {
		return
	}
	for _, list := range x.Lists {
		for i := range list.Rules {
			if list.Rules[i].Status == eval.Matched {
				r.reachRule(&list.Rules[i].Ref)
			}
		}
	}
}

// Coverage is the set of rules that some case reached: those that matched a call.
type Coverage struct {
	Rules, Reached int
	Unreached      []policy.RuleInfo // in file order
}

// Percent returns the percentage of the rules that were reached, 100 if there are none.
func (c *Coverage) Percent() float64 {
	if c.Rules == 0 {
		return 100
	}
	return 100 * float64(c.Reached) / float64(c.Rules)
}

// Cover combines several suites; a rule of a policy that several of them test counts once.
func Cover(reports ...*Report) Coverage {
	reached, seen := make(map[ruleKey]bool), make(map[ruleKey]bool)
	for _, r := range reports {
		for key := range r.reached {
			reached[key] = true
		}
	}
	var c Coverage
	for _, r := range reports {
		for rule := range r.Suite.program.Rules() {
			key := ruleKey{rule.Ref.File, rule.Ref.ID}
			if seen[key] {
				continue
			}
			seen[key] = true
			c.Rules++
			if reached[key] {
				c.Reached++
			} else {
				c.Unreached = append(c.Unreached, rule)
			}
		}
	}
	return c
}
