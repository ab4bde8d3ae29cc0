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
	lines *index.Lines // for one that is evaluated command by command
	first int32        // the first rule on strings or objects, or none
}

// test returns the test of a condition whose leaves are at a location.
func (g *grapher) test(c, site int32, p *schema.Location) test {
	if g.plan.conds[c].kind == condition.Present {
		return test{site: site, cond: c, present: true, first: literal.None}
	}
	f := g.fit(c, p)
	return test{site: site, cond: c, texts: f.texts, fits: f.fits, index: f.index, lines: f.lines, first: f.first, origin: g.plan.conds[c].origin}
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
	switch {
	case k.bundle >= 0 && k.command >= 0:
		f = g.fitLines(&k, p)
	case k.bundle >= 0:
		f = g.fitBundle(&k, p)
	default:
		if k.permissive && k.on == "" {
			g.linkRedirects(&k)
		}
		f = g.matchers.fit(&k, p)
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
	f := &fitting{index: index.New(!k.permissive, *k.env), first: literal.None}
	one := *k
	for i, c := range g.conditions[k.bundle] {
		one.kind, one.ast = c.Spec.Kind, c
		m := index.Member{ID: b.rules[i], Class: uint8(g.plan.rules[b.rules[i]].mode)}
		fits := typeSet(0)
		if texts := textsOf(&c.Spec); texts != nil {
			fits = g.matchers.fitTexts(&one, p, texts, m, f.index)
		} else {
			fit := g.matchers.fit(&one, p)
			fits, m.Readings = fit.fits, fit.texts
			f.index.Add(m)
		}
		f.fits |= fits
		if f.first == literal.None && fits&(stringType|objectType) != 0 {
			f.first = m.ID
		}
	}
	f.index.Build()
	return f
}

// targets calls f for every reading of the values of a condition at a location, while it returns true.
func (k *cond) targets(p *schema.Location, f func(condition.Target) bool) {
	target := condition.Target{ReadsJudged: k.readsJudged, WritesJudged: k.writesJudged}
	known := true
	for _, q := range p.Within() {
		known = known && q.Types() != schema.AnyType
		target.Type |= q.Seen() &^ schema.Null
		target.Expands = target.Expands || q.Expands()
	}
	if !known {
		target.Type = 0
	}
	if k.origin {
		target.As = p.As()
	}
	for _, a := range readings(k, p, known) {
		target.Annotation, target.Paths = a, k.ast.On == "path" && a == schema.Command
		target.Below = target.Paths && !k.ast.IgnoreBelow
		if single := k.ast.Spec.Kind == condition.Reads || k.ast.Spec.Kind == condition.Writes; single && k.permissive && !k.accompanied {
			continue
		}
		if !f(target) {
			return
		}
	}
}

// fit compiles one condition for a location.
func (all matchers) fit(k *cond, p *schema.Location) *fitting {
	f := new(fitting)
	k.targets(p, func(t condition.Target) bool {
		if m, ok := all.compile(k.ast.Spec, t, !k.permissive, k.env); ok {
			f.texts, f.fits = append(f.texts, m), f.fits|typesOf(m.Fits())
		}
		return true
	})
	return f
}

// fits reports whether a condition fits a location. late is set if it is compiled by evaluations.
func (all matchers) fits(k *cond, p *schema.Location, late bool) (fits bool) {
	texts := textsOf(&k.ast.Spec)
	k.targets(p, func(t condition.Target) bool {
		if late || texts != nil && index.Holds(k.ast.Spec.Kind, texts, &t) {
			fits = match.Check(k.ast.Spec, t, !k.permissive, k.env) == nil
		} else {
			_, fits = all.compile(k.ast.Spec, t, !k.permissive, k.env)
		}
		return !fits
	})
	return fits
}

// fitTexts adds a condition that compares with texts to an index. It is compiled only for readings
// of which the index does not hold the texts themselves.
func (all matchers) fitTexts(k *cond, p *schema.Location, texts []string, m index.Member, to *index.Index) (fits typeSet) {
	k.targets(p, func(t condition.Target) bool {
		if !index.Holds(k.kind, texts, &t) {
			if reading, ok := all.compile(k.ast.Spec, t, !k.permissive, k.env); ok {
				m.Readings, fits = append(m.Readings, reading), fits|typesOf(reading.Fits())
			}
			return true
		}
		compile := func() *match.Matcher {
			reading, ok := all.compile(k.ast.Spec, t, !k.permissive, k.env)
			if !ok { // a condition without its test would be weaker
				panic("eval: a condition of kind " + k.kind.String() + " fits its parameter and does not compile") // unreachable: Check and Compile have one list of errors
			}
			return reading
		}
		if match.Check(k.ast.Spec, t, !k.permissive, k.env) == nil {
			m.Texts, fits = append(m.Texts, index.Texts{Target: t, Kind: k.kind, Texts: texts, Compile: compile}), fits|stringType
		}
		return true
	})
	to.Add(m)
	return fits
}

// textsOf returns the literals of a condition that compares strings with them and applies to nothing
// else, nil for all others.
func textsOf(s *condition.Spec) []string {
	switch s.Kind {
	case condition.Const, condition.Enum, condition.Prefix, condition.Glob:
	default:
		return nil
	}
	texts := make([]string, 0, len(s.Values))
	for i := range s.Values {
		if s.Values[i].Kind != condition.LiteralString {
			return nil
		}
		texts = append(texts, s.Values[i].Text)
	}
	return texts
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
