package diff

import (
	"fmt"
	"iter"
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
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
		d := s.declared(tool)
		open := s.Uncovered == syntax.ParamDeny && leaves(s, d)
		for pointers := range bound[i].covered(s, d) {
			if !first && !slices.Equal(pointers, covered) {
				uncovered = true
			}
			covered, first = pointers, false
			uncovered = uncovered || open
		}
	}
	if !uncovered {
		return
	}
	for _, n := range e.numbers {
		c.open(tool, fmt.Sprintf("whether the edit of %s changes which parameters the permits cover (`parameter_not_covered`) was not decided", c.edits.list[n].Name))
	}
}

// covered yields, for each permit that needs cover, the pointers at which it, a rule above it that
// restricts or a guard looks, of parameters that need it.
func (b *boundPolicy) covered(s *sidePolicy, d declared) iter.Seq[[]string] {
	needs := make(map[string]bool) // by pointer: thousands of rules look at a few
	add := func(to []string, p jsonstream.Pointer, how string) []string {
		pointer := p.String()
		need, known := needs[pointer]
		if !known {
			need = len(p) > 0 && needsCovering(s, d, p)
			needs[pointer] = need
		}
		if need {
			return withText(to, how+pointer)
		}
		return to
	}
	looks := func(to []string, r *symbolic.Rule) []string {
		for _, k := range r.Bound {
			to = add(to, k.Arg, looksHow(k.Condition.Condition))
		}
		return to
	}
	return func(yield func([]string) bool) {
		var above []string // of the guards, and of the rules so far that restrict
		for _, g := range b.written {
			for i := range g.Conditions {
				above = add(above, g.Conditions[i].Arg, looksHow(&g.Conditions[i]))
			}
		}
		permits := s.permitsCovered()
		for _, r := range b.rules {
			if !r.Mode.Permissive() {
				above = looks(above, r)
			}
			if !permits(r) {
				continue
			}
			list := looks(above, r)
			for _, p := range r.Ignores {
				list = add(list, p, "")
			}
			if !yield(list) {
				return
			}
		}
	}
}

// withText returns an ordered list with a text: the same list if it has it, or a new one.
func withText(list []string, text string) []string {
	at, ok := slices.BinarySearch(list, text)
	if ok {
		return list
	}
	return slices.Insert(slices.Clone(list), at, text)
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
