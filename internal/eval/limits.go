package eval

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
)

// limit records that a string satisfied a restrictive condition only because it is too long to be
// examined: the verdict then has its own code, and not the rule's reason.
func (e *leafTests) limit(x *textTest) {
	k := &e.plan.conds[x.test.cond]
	if k.permissive || !x.m.Exceeds(e.stringValue()) {
		return
	}
	for i := range e.texts { // another reading may match properly
		y := &e.texts[i]
		if y.test == x.test && y.m.Incremental() && (y.result == condition.Hit || y.result == condition.Undecided && y.m.End(&y.state) == condition.Hit) {
			return
		}
	}
	e.conds[x.test.cond].limited = true
}

// limited reports whether a rule holds because a value is too long to be examined.
func (s *state) limited(r int32) bool {
	rule := &s.plan.rules[r]
	if rule.own < 0 {
		return slices.Contains(s.bundles[s.plan.conds[rule.first].bundle].limited, r)
	}
	for c := rule.first; c < rule.end; c++ {
		if s.conds[c].limited {
			return true
		}
	}
	return false
}
