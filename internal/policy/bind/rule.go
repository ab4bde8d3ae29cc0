package bind

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Rule is a rule bound to a schema.
type Rule struct {
	*syntax.Rule
	Bound []*Condition // its conditions, in their order
}

// Condition is a condition bound to the values that its pointer reaches.
type Condition struct {
	*syntax.Condition
	Rule  *syntax.Rule
	Reach schema.Reach
	// Key is equal for two conditions exactly if they look at the same leaves.
	Key     string
	Several bool // the schema allows more than one leaf
	Lacks   bool // arguments may lack a leaf, see mayLack
	All     bool // the quantifier, resolved
	Target  condition.Target
	// Readings are the ways in which a string may be read: one that a branch of a
	// schema calls a path and another a command is both.
	Readings []schema.Annotation
	Env      condition.Env
}

// IsCommand reports a condition on command lines, of which each command is judged by itself.
func (k *Condition) IsCommand() bool {
	return k.TestsLeaf() && slices.ContainsFunc(k.Reach.Locations, func(p *schema.Location) bool { return p.Has(schema.Command) || p.Has(schema.Argv) })
}

// TestsLeaf reports a condition on single values; others are on their number.
func (k *Condition) TestsLeaf() bool {
	return k.Spec.Kind != condition.Present && k.Spec.Kind != condition.MinItems && k.Spec.Kind != condition.MaxItems
}

// mayLack reports whether schema-valid arguments that have a leaf at the pointer
// may also have a branch without one: an absent member of an element, null, or an
// empty array among others (K3). For a pointer with at most one leaf, it
// reports whether they may have none.
func mayLack(s *schema.Schema, reach schema.Reach) bool {
	if reach.Unknown || !reach.CrossesArray {
		return reach.Unknown || reach.Optional || slices.ContainsFunc(reach.Locations, (*schema.Location).Nullable)
	}
	pointer, err := jsonstream.ParsePointer(reach.Expanded)
	if err != nil {
		return true // cannot happen: the schema wrote it
	}
	at, arrays := s.Location(), 0
	for _, token := range pointer {
		if token == "*" && at.Types()&schema.Array != 0 {
			at = at.Items()
			if arrays++; arrays > 1 {
				return true
			}
		} else {
			required := slices.ContainsFunc(at.Properties(), func(d schema.Declared) bool { return d.Name == token && d.Required })
			if arrays > 0 && !required {
				return true
			}
			at = at.Member([]byte(token)).Location
		}
		if arrays > 0 && at.Nullable() {
			return true
		}
	}
	return false
}
