package symbolic

import (
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Rule is a rule bound to a schema.
type Rule struct {
	*syntax.Rule
	Bound []*Condition // its conditions, in their order
}

// CatchAll reports whether the rule matches every call.
func (r *Rule) CatchAll() bool { return len(r.Conditions) == 0 && r.When == nil }

// Condition is a condition bound to the values that its pointer reaches.
type Condition struct {
	*syntax.Condition
	Rule  *syntax.Rule
	Reach schema.Reach
	// Key is equal for two conditions exactly if they look at the same leaves.
	Key     string
	Several bool // the schema allows more than one leaf
	Lacks   bool // see MayLack
	All     bool // the quantifier, resolved
	Target  match.Target
	// Readings are the ways in which a string may be read: one that a branch of a
	// schema calls a path and another a command is both.
	Readings []schema.Annotation
	Env      match.Env
	matchers []*match.Matcher // see built
	Scratch  *match.Value     // the text that is asked about, of all conditions of a check
	Memory   *Memory          // of all conditions of a check
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
