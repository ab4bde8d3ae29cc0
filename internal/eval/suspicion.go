package eval

import (
	"bytes"
	"slices"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/index"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// A request may use any name for a path and declare it as a string, or not at all. Guards on paths,
// commands and URLs therefore also read the strings that no parameter table declares. Every file
// with such guards has a second list of them for that. No verdict waits for it, as for floors: a
// match counts from its byte on.

// suspicion is the guards of one list compiled for undeclared strings. Most tools have none, so
// they are compiled when the first one ends.
type suspicion struct {
	as     reads
	guards func() suspecting
}

// suspecting are the compiled guards.
type suspecting struct {
	paths *index.Index // guards on paths, nil if there are none
	other []suspicious
}

// suspicious is another guard.
type suspicious struct {
	cond int32
	as   reads
	m    *match.Matcher
}

// suspect is a suspicion at a location, and the types as which strings are read there.
type suspect struct {
	*suspicion
	as reads
}

// reads is the set of types as which a string is read.
type reads uint8

const (
	asPath reads = 1 << iota
	asCommand
	asURL
)

// readsOf returns the types of strings that a guard on a type reads.
func readsOf(on string) reads {
	switch on {
	case schema.Path.String():
		return asPath
	case schema.Command.String():
		return asCommand
	case schema.URL.String():
		return asURL
	}
	return 0
}

// suspicion adds the second list of a file's guards.
func (c *compiler) suspicion(v *ToolPolicy) {
	guards := slices.DeleteFunc(slices.Clone(v.File.Guards), func(g *syntax.Rule) bool { return !Suspects(g) })
	typed := *v
	typed.Schema = c.suspected(v)
	c.list(&typed, list{layer: stopgate.LayerGuard, fallback: stopgate.Unattended, guard: true, suspects: true}, guards, "", true)
}

// suspected returns the schema that determines which strings are undeclared: that of the file, with
// the types from the name of a known tool.
func (c *compiler) suspected(v *ToolPolicy) *schema.Schema {
	if c.known == nil || v.Schema == c.known {
		return v.Schema
	}
	if v.Schema == c.base {
		return c.known
	}
	typed, err := schema.Overlay(v.Schema, schema.Fitting(v.Schema, c.row))
	if err != nil {
		return v.Schema
	}
	return typed
}

// Suspects reports whether a guard also reads undeclared strings: it has a condition on a type that
// a single value satisfies.
func Suspects(g *syntax.Rule) bool {
	if len(g.Conditions) != 1 || g.Match == syntax.QuantifierAll {
		return false
	}
	k := &g.Conditions[0]
	if readsOf(k.On) == 0 || k.Match == syntax.QuantifierAll {
		return false
	}
	d := k.Spec.Row()
	return (d.Listed || d.Sources) && !d.Excludes
}

// suspect adds the second list to a view.
func (c *compiler) suspect(v *ToolPolicy, l *list) {
	if !l.suspects || l.first == l.end {
		return
	}
	s, plan, first, end := new(suspicion), c.plan, l.first, l.end
	for r := first; r < end; r++ {
		s.as |= readsOf(plan.conds[plan.rules[r].first].on)
	}
	s.guards = sync.OnceValue(func() (out suspecting) {
		all := make(matchers)
		for r := first; r < end; r++ {
			at := plan.rules[r].first
			out.add(all, at, &plan.conds[at])
		}
		if out.paths != nil {
			out.paths.Build()
		}
		return out
	})
	p := c.part(v)
	p.suspicions = append(p.suspicions, s)
}

// add compiles one condition.
func (s *suspecting) add(all matchers, c int32, k *cond) {
	a, _ := schema.ParseAnnotation(k.on)
	m, ok := all.compile(k.ast.Spec, condition.Target{Type: schema.String, Annotation: a}, true, k.env)
	if !ok {
		return // the condition fits no such string
	}
	as := readsOf(k.on)
	if as == asPath && !m.LooksAtOrigins() {
		if s.paths == nil {
			s.paths = index.New(true, *k.env)
		}
		s.paths.Add(index.Member{ID: c, Readings: []*match.Matcher{m}})
		return
	}
	s.other = append(s.other, suspicious{cond: c, as: as, m: m})
}

// suspect adds the guards that read undeclared strings at a shape, except those that read it
// anyway.
func (g *grapher) suspect(s *shape, st walkState) {
	if len(g.suspicions) == 0 || st.listed || s.location.Tabled() {
		return
	}
	var seen reads
	for _, a := range []schema.Annotation{schema.Path, schema.Command, schema.URL} {
		if s.location.Guarded(a.String()) {
			seen |= readsOf(a.String())
		}
	}
	for _, one := range g.suspicions {
		if as := one.as &^ seen; as != 0 {
			s.suspects = append(s.suspects, suspect{one, as})
		}
	}
}

// suspected evaluates the undeclared string that has just ended by these guards.
func (e *leafTests) suspected() {
	list := e.suspects
	e.suspects = list[:0]
	if len(list) == 0 || e.probing || len(e.value.Raw()) > maxSuspectedRaw || !e.decoded && isProse(e.value) {
		return
	}
	for _, r := range plausible(nil, e.text(), 0) {
		e.undeclared.Reset(r.text)
		e.undeclared.SetTexts(e.sessionTexts)
		for _, s := range list {
			as := s.as & r.as
			if as&asCommand != 0 && !e.plan.table.Line(&e.undeclared).NamesPrograms() {
				as &^= asCommand
			}
			if as != 0 {
				e.evaluateReading(s.suspicion, as)
			}
		}
	}
}

// evaluateReading evaluates one reading, in the field undeclared, by the guards of one list.
func (e *leafTests) evaluateReading(s *suspicion, as reads) {
	guards := s.guards()
	if as&asPath != 0 && guards.paths != nil {
		guards.paths.End(new(index.State), &e.undeclared, &e.hits)
		for _, c := range e.hits.Members {
			e.suspectHolds(c, slices.Contains(e.hits.Limited, c))
		}
	}
	for i := range guards.other {
		switch k := &guards.other[i]; {
		case k.as&as == 0 || e.conds[k.cond].phase != waiting:
		case k.m.LooksAtOrigins():
			e.suspectOrigin(k)
		case k.m.Judge(&e.undeclared):
			e.suspectHolds(k.cond, k.m.Exceeds(&e.undeclared))
		}
	}
}

// suspectOrigin evaluates where a reading comes from, if it looks like a value of the type: every
// word could be a path or the host of a URL.
func (e *leafTests) suspectOrigin(k *suspicious) {
	text := e.undeclared.Text()
	if k.as == asPath && bytes.IndexByte(text, '/') < 0 || k.as == asURL && !bytes.Contains(text, []byte("://")) {
		return
	}
	o := k.m.Origin(&e.undeclared, schema.String)
	if e.found(k.cond, k.m, &e.undeclared, schema.String, &o); o.Holds {
		e.conds[k.cond].doubt = o.Doubt
		e.suspectHolds(k.cond, false)
	}
}

func (e *leafTests) suspectHolds(c int32, limited bool) {
	st := &e.conds[c]
	if st.phase != waiting {
		return
	}
	e.resolve(c, holds)
	st.limited, st.undeclared, st.value = limited, true, e.spine.keep(e.undeclared.Text())
}

// maxSuspectedRaw is the maximum length of a string in the source: an escape has six bytes.
const maxSuspectedRaw = 6*maxSuspectedJSON + 2

// leavesOf returns the readings of the strings of a JSON text.
func leavesOf(to []reading, v jsonstream.Value, depth int) []reading {
	switch v.Kind() {
	case jsonstream.Object:
		for _, member := range v.Members() {
			to = leavesOf(to, member, depth)
		}
	case jsonstream.Array:
		for element := range v.Elements() {
			to = leavesOf(to, element, depth)
		}
	case jsonstream.String:
		to = plausible(to, v.AppendText(nil), depth)
	}
	return to
}
