package eval

import (
	"slices"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// onString is the type of a guard on strings. One on their origin is about every string, whatever
// else it is: a secret leaves in a URL or a command as well.
const onString = "string"

// guards reports whether a guard on a type looks at the strings of a location.
func (c *cond) guards(p *schema.Location) bool {
	if !c.origin || c.on != onString {
		return p.Guarded(c.on)
	}
	return slices.ContainsFunc(p.Within(), func(q *schema.Location) bool { return q.Seen()&schema.String != 0 })
}

// vacuous reports whether a member without a value satisfies a condition if the schema does not
// require it: a value that is not there has no origin.
func (c *cond) vacuous() bool { return c.origin && c.permissive && c.all }

// leaves adds the threads that lead to the leaves of an object, for conditions on their origin.
func (g *grapher) leaves(next *walkState, s *shape, st walkState) {
	for _, t := range st.threads {
		for node := t.node; node != nil && !t.deep; node = node.star {
			if slices.ContainsFunc(node.conds, func(c int32) bool {
				k := &g.plan.conds[c]
				return k.origin && (!t.generous && !s.wrongObject || k.generous())
			}) {
				next.add(thread{node: node, deep: true, leaves: true, generous: t.generous || s.wrongObject, origin: s.location})
			}
			if t.flat || !s.wrongObject {
				break
			}
		}
	}
	if s.wrongObject && objectBelow(s.location) == nil && slices.ContainsFunc(g.ons, func(c int32) bool {
		k := &g.plan.conds[c]
		return k.origin && k.on != onString && k.guards(s.location)
	}) {
		next.add(thread{node: g.node, deep: true, leaves: true, generous: true, origin: s.location})
	}
}

// keys adds the conditions on the origin of the keys that no schema and no rule names: they are
// texts of the model, as values are.
func (g *grapher) keys(s *shape, st walkState) {
	if s.wrongObject {
		return
	}
	for _, t := range g.below(s, st) {
		for i, c := range t.node.conds {
			if k := &g.plan.conds[c]; t.leaves && k.origin && k.on == "" && g.follows(t, c) {
				s.others = append(s.others, g.keyTest(c, t.node.sites[i]))
			}
		}
	}
	for _, c := range g.ons {
		if k := &g.plan.conds[c]; k.origin && k.on == onString {
			s.others = append(s.others, g.keyTest(c, anySite))
		}
	}
}

func (g *grapher) keyTest(c, site int32) test {
	x := g.test(c, site, g.unknown)
	x.many = true
	return x
}

// optional returns the effect of the absence of a member: if the schema does not require it,
// permissive conditions on its origin hold, unless a default replaces it.
func (g *grapher) optional(e *edge, absent []absence) []absence {
	if !e.optional {
		return absent
	}
	absent = slices.Clone(absent)
	for i := range absent {
		if a := &absent[i]; a.kind == noValue && !a.fixed && g.plan.conds[g.plan.sites[a.site]].vacuous() {
			a.kind = notGiven
		}
	}
	return absent
}

// isEmpty reports whether a default is no value: null, "" or [].
func isEmpty(v jsonstream.Value) bool {
	switch v.Kind() {
	case jsonstream.Null:
		return true
	case jsonstream.String:
		return v.Text() == ""
	}
	return v.Kind() == jsonstream.Array && v.Len() == 0
}
