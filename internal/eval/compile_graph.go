package eval

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
)

// maxShapes is the maximum size of the graph of a view. Schemas may come from untrusted servers; a
// tool whose schema needs more is denied.
const maxShapes = 50_000

// grapher builds the shapes of one view.
type grapher struct {
	plan *plan
	view *view
	ons  []int32 // conditions on every value of a type
	// conditions are those of the rules of each bundle.
	conditions [][]*syntax.Condition
	matchers   matchers
	late       *lateMatchers
	// suspicions are those of the guards of the view.
	suspicions []*suspicion

	unknown   *schema.Location
	node      *trie // trie node of the deep threads of ons
	locations map[*schema.Location]int
	shapes    map[string]*shape
	order     []*shape // in order of discovery
	stances   []walkState
	fitted    map[fitKey]*fitting
	over      bool
	// listed are, for each site, the last shapes that have it in under, deeper and within.
	listed [3][]*shape
}

// graph builds the shapes below the root. It returns false if there are too many.
func (g *grapher) graph(t *trie) bool {
	g.unknown = (*schema.Schema)(nil).Location()
	g.node = &trie{id: -1, conds: g.ons, sites: slices.Repeat([]int32{anySite}, len(g.ons))}
	g.locations, g.shapes = make(map[*schema.Location]int), make(map[string]*shape)
	g.fitted = make(map[fitKey]*fitting)
	for i := range g.listed {
		g.listed[i] = make([]*shape, len(g.plan.sites))
	}
	root := walkState{location: g.view.schema.Location()}
	root.add(thread{node: t})
	g.view.root = g.shape(root)
	for i := 0; i < len(g.order) && !g.over; i++ {
		g.build(g.order[i], g.stances[i])
	}
	if g.over {
		return false
	}
	g.guards()
	g.absences()
	g.covers()
	g.prune()
	return true
}

// shape returns the shape of a walk state; it is built later.
func (g *grapher) shape(st walkState) *shape {
	key := st.key(g.locations)
	if s := g.shapes[key]; s != nil {
		return s
	}
	if len(g.order) == maxShapes {
		g.over = true
	}
	s := &shape{location: st.location}
	g.shapes[key] = s
	if !g.over {
		g.order, g.stances = append(g.order, s), append(g.stances, st)
	}
	return s
}

func (g *grapher) build(s *shape, st walkState) {
	set := typesOf(s.location.Types())
	s.wrongObject, s.wrongArray = set&objectType == 0, set&arrayType == 0
	s.wrongScalar = (stringType | numberType | booleanType) &^ set
	s.needs = st.needs | needs(s.location)
	s.vector = s.location.Vector()
	for _, t := range st.threads {
		g.tests(s, t)
		if !t.deep {
			g.sites(s, t)
		}
	}
	for _, c := range g.ons {
		if k := &g.plan.conds[c]; k.guards(s.location) {
			x := g.test(c, unsited, s.location)
			if k.origin {
				x.fits &= stringType
			}
			if st.wrong {
				x.site, x.many = anySite, true
			}
			s.tests = append(s.tests, x)
		}
	}
	g.suspect(s, st)
	s.analyse = s.needs&watchWords != 0 && len(s.tests) > 0
	for i := range s.tests {
		t := &s.tests[i]
		k := &g.plan.conds[t.cond]
		if k.permissive {
			t.wrong = s.wrongScalar
		}
		s.redirects = s.redirects || k.kind == condition.Reads || k.kind == condition.Writes
	}
	s.judges = !s.wrongObject && (len(s.location.Properties()) > 0 || closes(s.location))
	g.members(s, st)
	g.elements(s, st)
	g.keys(s, st)
}

// needs returns the floors for the strings of a location.
func needs(p *schema.Location) textNeed {
	var n textNeed
	if p.Runs() {
		n |= watchControls | allowTabs | watchWords
	}
	if p.HasWithin(schema.Path) {
		n = n&^allowTabs | watchControls | watchTarget
	}
	if p.HasWithin(schema.Patch) {
		n |= watchFiles
	}
	return n
}

// follows reports whether a condition follows a thread.
func (g *grapher) follows(t thread, c int32) bool {
	k := &g.plan.conds[c]
	return !t.generous && (!t.deep || t.leaves) || k.generous()
}

// tests adds the conditions whose pointers end at a thread.
func (g *grapher) tests(s *shape, t thread) {
	for i, c := range t.node.conds {
		k := &g.plan.conds[c]
		switch {
		case !g.follows(t, c), t.deep && t.leaves != k.origin, t.deep && t.node == g.node && !k.guards(t.origin):
		case counts(k.kind):
			if !t.flat && !t.deep && (!s.wrongArray || k.generous()) {
				s.counts = append(s.counts, g.test(c, t.node.sites[i], s.location))
			}
		case t.deep:
			if k.kind == condition.Present {
				continue
			}
			at := t.origin
			if t.leaves {
				at = s.location
			}
			x := g.test(c, t.node.sites[i], at)
			x.many, x.fits = true, x.fits&^objectType
			s.tests = append(s.tests, x)
		default:
			s.tests = append(s.tests, g.test(c, t.node.sites[i], s.location))
		}
	}
}

// sites adds the sites that end with a value here, each once: several threads may lead to one.
func (g *grapher) sites(s *shape, t thread) {
	add := func(to *[]int32, listed []*shape) func(int32) {
		return func(site int32) {
			if listed[site] != s && g.follows(t, g.plan.sites[site]) {
				*to, listed[site] = append(*to, site), s
			}
		}
	}
	under, deeper := add(&s.under, g.listed[0]), add(&s.deeper, g.listed[1])
	for i, site := range t.node.sites {
		// Elements of a counted array are not counted themselves.
		if !t.flat || !counts(g.plan.conds[t.node.conds[i]].kind) {
			under(site)
		}
	}
	for _, name := range t.node.names {
		t.node.children[name].each(under)
		t.node.children[name].each(deeper)
	}
	if !t.flat {
		t.node.star.each(under)
		t.node.star.each(deeper)
		t.node.star.each(add(&s.within, g.listed[2]))
	}
}

// members adds the shapes of an object's members.
func (g *grapher) members(s *shape, st walkState) {
	below := g.below(s, st)
	if s.wrongObject {
		location := objectBelow(s.location)
		next := walkState{location: location, threads: below, wrong: true, listed: st.lists()}
		if location == nil {
			next.location, next.needs = g.unknown, s.needs
		} else {
			for _, t := range st.threads {
				next.cross(t, true)
			}
		}
		s.object = g.shape(next)
		return
	}
	s.keys = make(map[string]*edge)
	for i, d := range s.location.Properties() {
		names := append([]string{d.Name}, d.Aliases...)
		e := &edge{to: g.shape(st.member(d.Location, names, below)), class: int32(i), bit: -1, optional: !d.Required}
		s.name(e, names...)
	}
	for _, t := range st.threads {
		if t.deep {
			continue
		}
		for _, name := range t.node.names {
			if s.keys[name] == nil {
				m := s.location.Member([]byte(name))
				s.name(&edge{to: g.shape(st.member(m.Location, []string{name}, below)), class: int32(m.Property), bit: -1}, name)
			}
		}
	}
	s.extra = g.shape(walkState{location: s.location.Others().Location, threads: below, needs: st.needs, wrong: st.wrong, listed: st.lists()})
}

// below returns the threads that continue to every member of an object: those of the conditions on
// everything in a value of the wrong type.
func (g *grapher) below(s *shape, st walkState) []thread {
	var next walkState
	for _, t := range st.threads {
		if t.deep {
			next.add(t)
		}
	}
	g.leaves(&next, s, st)
	types := s.location.Types()
	if types != schema.AnyType && !s.wrongObject {
		return next.threads
	}
	for _, t := range st.threads {
		for node := t.node; node != nil && !t.deep; node = node.star {
			if slices.ContainsFunc(node.conds, func(c int32) bool { return g.plan.conds[c].generous() && !g.plan.conds[c].origin }) {
				next.add(thread{node: node, deep: true, origin: s.location})
			}
			if t.flat || !s.wrongObject {
				break // "*" matches the elements of an array only
			}
		}
	}
	if s.wrongObject && objectBelow(s.location) == nil && slices.ContainsFunc(g.ons, func(c int32) bool { return !g.plan.conds[c].origin && g.plan.conds[c].guards(s.location) }) {
		next.add(thread{node: g.node, deep: true, origin: s.location})
	}
	return next.threads
}

// objectBelow returns the elements that an object in place of an array may be intended as, nil if
// the array does not have objects.
func objectBelow(p *schema.Location) *schema.Location {
	for _, q := range p.Within()[1:] {
		if q.Types()&schema.Object != 0 {
			return q
		}
	}
	return nil
}

// member returns the walk state of a declared member under all its names.
func (st walkState) member(p *schema.Location, names []string, below []thread) walkState {
	next := walkState{location: p, needs: st.needs, wrong: st.wrong, listed: st.lists()}
	for _, t := range st.threads {
		if t.deep {
			continue
		}
		for _, name := range names {
			next.add(thread{node: t.node.children[name], generous: t.generous})
		}
	}
	for _, t := range below {
		next.add(t)
	}
	return next
}

// cross continues a thread to the elements of an array.
func (st *walkState) cross(t thread, generous bool) {
	if t.deep {
		st.add(t)
		return
	}
	if !t.flat {
		st.add(thread{node: t.node.star, generous: t.generous || generous})
	}
	st.add(thread{node: t.node, flat: true, generous: t.generous || generous})
}

// elements adds the shapes of an array's elements. In an array of the wrong type every element has
// the schema declared for the array's location.
func (g *grapher) elements(s *shape, st walkState) {
	if s.vector {
		return
	}
	at := func(p *schema.Location) *shape {
		next := walkState{location: p, needs: st.needs, wrong: st.wrong || s.wrongArray, listed: st.lists()}
		for _, t := range st.threads {
			next.cross(t, s.wrongArray)
		}
		return g.shape(next)
	}
	if s.wrongArray {
		s.items = at(s.location)
		return
	}
	rest := s.location.Items()
	s.items = at(rest)
	for i := 0; i < maxPrefix && s.location.Item(i) != rest; i++ {
		s.prefix = append(s.prefix, at(s.location.Item(i)))
	}
}

// maxPrefix is the maximum number of array elements with a schema of their own.
const maxPrefix = 1000

// links calls f for every shape that s leads to.
func (s *shape) links(f func(*shape)) {
	for _, e := range s.members {
		f(e.to)
	}
	for _, to := range []*shape{s.object, s.extra, s.items} {
		if to != nil {
			f(to)
		}
	}
	for _, p := range s.prefix {
		f(p)
	}
}

// name adds an edge under several keys.
func (s *shape) name(e *edge, keys ...string) {
	for _, key := range keys {
		if s.keys[key] = e; len(s.names) <= fewNames {
			s.names = slices.DeleteFunc(s.names, func(n named) bool { return n.name == key })
			s.names = append(s.names, named{key, e})
		}
	}
	s.members = append(s.members, e)
}

// prune replaces shapes without conditions by nil, so that an evaluation skips the values there.
func (g *grapher) prune() {
	from := make(map[*shape][]*shape)
	var useful []*shape
	keep := make(map[*shape]bool)
	for _, s := range g.order {
		s.links(func(to *shape) { from[to] = append(from[to], s) })
		if len(s.tests)+len(s.counts)+len(s.under)+len(s.others) > 0 || len(s.suspects) > 0 || s.needs != 0 || s.judges || s.leaf != leafElsewhere {
			useful, keep[s] = append(useful, s), true
		}
	}
	for len(useful) > 0 {
		s := useful[len(useful)-1]
		useful = useful[:len(useful)-1]
		for _, f := range from[s] {
			if !keep[f] {
				useful, keep[f] = append(useful, f), true
			}
		}
	}
	cut := func(s **shape) {
		if *s != nil && !keep[*s] {
			*s = nil
		}
	}
	for _, s := range g.order {
		for _, e := range s.members {
			cut(&e.to)
		}
		cut(&s.object)
		cut(&s.extra)
		cut(&s.items)
		for i := range s.prefix {
			cut(&s.prefix[i])
		}
	}
	cut(&g.view.root)
}

// closes reports whether a location forbids undeclared members.
func closes(p *schema.Location) bool {
	k := p.Others().Kind
	return k == schema.Undeclared || k == schema.Forbidden
}
