package diff

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// A permit that does not cover a parameter of a call answers with the mode of `uncovered`. Its
// coverage depends on the rules above it, which no pair of rules shows. Where all permits of both lists
// cover the same parameters, calls with another one move in the directions of those without it.

// coverage notes edits that may change which parameters the permits of a list cover.
func (c *comparer) coverage(tool *comparedTool, before, after *sidePolicy, bound [2]*boundPolicy, e *toolEdits) {
	var covered []string
	var uncovered bool
	first := true
	for i, s := range []*sidePolicy{before, after} {
		if s.Uncovered == syntax.ParamAllow {
			continue
		}
		for at := range bound[i].rules {
			if !bound[i].needsCoverAt(s, at) {
				continue
			}
			pointers := bound[i].coveredBy(s, s.declared(tool), at)
			if !first && !slices.Equal(pointers, covered) {
				uncovered = true
			}
			covered, first = pointers, false
			uncovered = uncovered || s.Uncovered == syntax.ParamDeny && leaves(s, s.declared(tool))
		}
	}
	if !uncovered {
		return
	}
	for _, n := range e.numbers {
		c.open(tool, fmt.Sprintf("whether the edit of %s changes which parameters the permits cover (`parameter_not_covered`) was not decided", c.edits.list[n].Name))
	}
}

// needsCoverAt reports that a rule permits only calls that it covers.
func (b *boundPolicy) needsCoverAt(s *sidePolicy, at int) bool {
	one := *b
	one.rules = b.rules[at : at+1]
	return one.needsCover(s)
}

// coveredBy lists the pointers at which a permit, a rule above it that restricts or a guard looks,
// of parameters that need it.
func (b *boundPolicy) coveredBy(s *sidePolicy, d declared, at int) (list []string) {
	add := func(p jsonstream.Pointer, how string) {
		if text := how + p.String(); len(p) > 0 && needsCovering(s, d, p) && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for i, r := range b.rules[:at+1] {
		if i == at || !r.Mode.Permissive() {
			for _, k := range r.Bound {
				add(k.Arg, looksHow(k.Condition.Condition))
			}
		}
	}
	for _, p := range b.rules[at].Ignores {
		add(p, "")
	}
	for _, g := range b.written {
		for i := range g.Conditions {
			add(g.Conditions[i].Arg, looksHow(&g.Conditions[i]))
		}
	}
	slices.Sort(list)
	return list
}

// looksHow returns "" for conditions that look at strings, and the kind of others.
func looksHow(k *syntax.Condition) string {
	if slices.ContainsFunc(k.Spec.Values, func(lit condition.Literal) bool { return lit.Kind == condition.LiteralString }) {
		return ""
	}
	return k.Spec.Kind.String() + " "
}

// needsCovering reports a place of strings, lists or objects that no table declares.
func needsCovering(s *sidePolicy, d declared, p jsonstream.Pointer) bool {
	if d.covers(p[0]) {
		return false
	}
	return slices.ContainsFunc(s.Schema.Reach(p).Locations, func(place *schema.Location) bool {
		return !place.Tabled() && place.Types()&(schema.String|schema.Array|schema.Object) != 0
	})
}

// leaves reports that calls may have a parameter that needs cover.
func leaves(s *sidePolicy, d declared) bool {
	if s.Schema.Location().Others().Kind == schema.FreeForm {
		return true
	}
	for pointer := range s.Schema.All() {
		if needsCovering(s, d, pointer) {
			return true
		}
	}
	return false
}
