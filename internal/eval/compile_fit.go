package eval

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/index"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
)

// fitKey is a condition at a location.
type fitKey struct {
	cond     int32
	location *schema.Location
}

// fitting is a condition compiled for the schema of a location.
type fitting struct {
	texts []*match.Matcher
	fits  typeSet
	index *index.Index // for a bundle
	first int32        // the first rule on strings or objects, or none
}

// test returns the test of a condition whose leaves are at a location.
func (g *grapher) test(c, site int32, p *schema.Location) test {
	if g.plan.conds[c].kind == condition.Present {
		return test{site: site, cond: c, present: true, first: literal.None}
	}
	f := g.fit(c, p)
	return test{site: site, cond: c, texts: f.texts, fits: f.fits, index: f.index, first: f.first, origin: g.plan.conds[c].origin}
}

// fit compiles a condition for a location. A location may have several readings: a string that is a
// path in one branch and a command in another is both, and a string without a schema may be plain
// text or a path. Permissive conditions then need every reading, restrictive ones any.
func (g *grapher) fit(c int32, p *schema.Location) *fitting {
	key := fitKey{c, p}
	if f := g.fitted[key]; f != nil {
		return f
	}
	k := g.plan.conds[c]
	f := new(fitting)
	if k.bundle >= 0 {
		f = g.fitBundle(&k, p)
	} else {
		if k.permissive && k.on == "" {
			g.linkRedirects(&k)
		}
		f = g.matchers.fit(&k, p, k.env)
		if f.first = literal.None; f.fits&(stringType|objectType) != 0 {
			f.first = k.rule
		}
	}
	g.fitted[key] = f
	return f
}

// linkRedirects records which redirections other conditions of a rule evaluate for the same
// command, so that they do not prevent a permission. Reads and writes restrict the files of a
// command, not which command may run: alone they do not permit it.
func (g *grapher) linkRedirects(k *cond) {
	r := &g.plan.rules[k.rule]
	for c := r.first; c < r.end; c++ {
		if other := &g.plan.conds[c]; other.expanded == k.expanded {
			k.readsJudged = k.readsJudged || other.kind == condition.Reads
			k.writesJudged = k.writesJudged || other.kind == condition.Writes
			k.accompanied = k.accompanied || other.kind != condition.Reads && other.kind != condition.Writes && other.kind != condition.Present
		}
	}
}

// fitBundle compiles the conditions of a bundle for a location, and their index.
func (g *grapher) fitBundle(k *cond, p *schema.Location) *fitting {
	b := &g.plan.bundles[k.bundle]
	f := &fitting{index: index.New(!k.permissive, k.env), first: literal.None}
	for i, c := range g.conditions[k.bundle] {
		one := *k
		one.kind, one.ast = c.Spec.Kind, c
		fit := g.matchers.fit(&one, p, k.env)
		f.fits |= fit.fits
		if f.first == literal.None && fit.fits&(stringType|objectType) != 0 {
			f.first = b.rules[i]
		}
		f.index.Add(index.Member{ID: b.rules[i], Class: uint8(g.plan.rules[b.rules[i]].mode), Readings: fit.texts})
	}
	f.index.Build()
	return f
}

// fit compiles one condition for a location.
func (all matchers) fit(k *cond, p *schema.Location, env condition.Env) *fitting {
	target := condition.Target{}
	known := true
	for _, q := range p.Within() {
		known = known && q.Types() != schema.AnyType
		target.Type |= q.Seen() &^ schema.Null
		target.Expands = target.Expands || q.Expands()
	}
	if !known {
		target.Type = 0
	}
	f := new(fitting)
	if k.origin {
		target.As = p.As()
	}
	target.ReadsJudged, target.WritesJudged = k.readsJudged, k.writesJudged
	for _, a := range readings(k, p, known) {
		target.Annotation, target.Paths = a, k.ast.On == "path" && a == schema.Command
		target.Below = target.Paths && !k.ast.IgnoreBelow
		if single := k.ast.Spec.Kind == condition.Reads || k.ast.Spec.Kind == condition.Writes; single && k.permissive && !k.accompanied {
			continue
		}
		m, ok := all.compile(k.ast.Spec, target, !k.permissive, env)
		if !ok {
			continue
		}
		f.texts = append(f.texts, m)
		f.fits |= typesOf(m.Fits())
	}
	return f
}

// readings returns the annotations under which a condition reads the strings of a location. A guard
// on a type reads that type only.
func readings(k *cond, p *schema.Location, known bool) []schema.Annotation {
	if k.on != "" && !(k.origin && k.on == onString) {
		a, _ := schema.ParseAnnotation(k.on)
		if a != schema.Path {
			return []schema.Annotation{a}
		}
		if all := annotated(p, schema.Path, schema.Command, schema.Patch); len(all) > 0 {
			return all
		}
		return []schema.Annotation{schema.Path}
	}
	if all := annotated(p, schema.URL, schema.Path, schema.Command, schema.Patch); len(all) > 0 {
		return all
	}
	if !known && k.on == "" {
		return k.ast.Spec.Row().Undeclared
	}
	return []schema.Annotation{schema.None}
}

// annotated returns those of some annotations that a location has.
func annotated(p *schema.Location, from ...schema.Annotation) (all []schema.Annotation) {
	for _, a := range from {
		if p.HasWithin(a) || a == schema.Command && p.Runs() {
			all = append(all, a)
		}
	}
	return all
}
