package symbolic

import (
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy/bind"
)

// Rule is a bound rule in a proof.
type Rule struct {
	*syntax.Rule
	Bound []*Condition // its conditions, in their order
}

// Condition is a bound condition in a proof.
type Condition struct {
	*bind.Condition
	memory   *Memory
	matchers []*match.Matcher // see built
}

// Rules prepares bound rules. The compiled conditions are kept in the memory.
func (m *Memory) Rules(rules []*bind.Rule) []*Rule {
	list := make([]*Rule, len(rules))
	for i, r := range rules {
		list[i] = &Rule{Rule: r.Rule}
		for _, k := range r.Bound {
			list[i].Bound = append(list[i].Bound, &Condition{Condition: k, memory: m})
		}
	}
	return list
}

// built returns the condition compiled for each reading.
func (k *Condition) built() []*match.Matcher {
	if k.matchers == nil {
		for _, a := range k.Readings {
			k.Target.Annotation = a
			if m := k.matcher(k.Spec); m != nil {
				k.matchers = append(k.matchers, m)
			}
		}
	}
	return k.matchers
}
