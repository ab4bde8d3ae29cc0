package eval

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/jsonstream"
)

// guards assigns sites to the conditions on every value of a type. A shape at a single location of
// the arguments has its own site, which ends with the value; all others share one that ends with
// the arguments.
func (g *grapher) guards() {
	if len(g.ons) == 0 {
		return
	}
	arrivals := make(map[*shape]int)
	for _, s := range g.order {
		s.links(func(to *shape) { arrivals[to]++ })
	}
	single := map[*shape]bool{g.view.root: arrivals[g.view.root] == 0}
	var walk func(s *shape) []int32
	walk = func(s *shape) []int32 {
		sites := g.ownSites(s)
		s.links(func(to *shape) {
			if to != nil && arrivals[to] == 1 && !single[to] {
				single[to] = true
				sites = append(sites, walk(to)...)
			}
		})
		s.under = append(s.under, sites...)
		return sites
	}
	walk(g.view.root)
	g.sharedSites()
}

// ownSites assigns a site to each guard on a shape.
func (g *grapher) ownSites(s *shape) []int32 {
	var sites []int32
	for i := range s.tests {
		if t := &s.tests[i]; t.site == unsited {
			t.site = g.newSite(t.cond)
			sites = append(sites, t.site)
		}
	}
	return sites
}

// Sites of guards' tests that are not assigned yet.
const (
	unsited = -1
	anySite = -2
)

func (g *grapher) newSite(c int32) int32 {
	g.plan.sites = append(g.plan.sites, c)
	g.plan.conds[c].sites++
	return int32(len(g.plan.sites) - 1)
}

// sharedSites assigns the root's site to the guards on all other shapes, and any site to shapes
// below a value of the wrong type: there only a match counts.
func (g *grapher) sharedSites() {
	shared := make(map[int32]int32)
	for _, s := range g.order {
		for i := range s.tests {
			t := &s.tests[i]
			if t.site != unsited {
				continue
			}
			site, ok := shared[t.cond]
			if !ok {
				site = g.newSite(t.cond)
				shared[t.cond] = site
				g.view.root.under = append(g.view.root.under, site)
			}
			t.site, t.many = site, true
		}
	}
	for _, s := range g.order {
		for _, tests := range [][]test{s.tests, s.others} {
			for i := range tests {
				if t := &tests[i]; t.site == anySite {
					t.site = int32(slices.Index(g.plan.sites, t.cond))
				}
			}
		}
		s.others = slices.DeleteFunc(s.others, func(t test) bool { return t.site < 0 }) // no string can be anywhere
	}
}

// absences computes, once every shape is complete, the effect of an absent member on the conditions
// at and below it.
func (g *grapher) absences() {
	a := absentees{grapher: g, probe: new(Evaluation), known: make(map[*shape][]absence)}
	a.probe.probing = true
	for _, s := range slices.Backward(g.order) {
		bits := int32(len(s.location.Properties()))
		for _, e := range s.members {
			if e.absent = a.optional(e, a.of(e.to)); len(e.absent) > 0 {
				e.bit, e.defaulted = bits, len(e.to.location.Defaults()) > 0
				bits++
				s.edges = append(s.edges, e)
			}
		}
		s.words = int(bits+63) / 64
	}
}

// absentees computes absences.
type absentees struct {
	*grapher
	probe *Evaluation
	known map[*shape][]absence
}

// of returns the effect of a value's absence: its default if the schema has one, else the defaults
// of its members (B9), else a branch without a value.
func (a *absentees) of(s *shape) []absence {
	if known, ok := a.known[s]; ok {
		return known
	}
	a.known[s] = nil // a schema may contain itself
	if len(s.location.Defaults()) > 0 {
		a.known[s] = a.byDefault(s)
		return a.known[s]
	}
	var all []absence
	seen := make(map[int32]bool)
	for _, e := range s.members {
		for _, x := range a.of(e.to) {
			if !seen[x.site] {
				seen[x.site] = true
				all = append(all, x)
			}
		}
	}
	for _, site := range s.under {
		if !seen[site] {
			all = append(all, absence{site: site, kind: a.without(site)})
		}
	}
	a.known[s] = all
	return all
}

// without returns the effect of a missing value on a site.
func (g *grapher) without(site int32) absenceKind {
	if g.plan.conds[g.plan.sites[site]].kind == condition.Present {
		return notPresent
	}
	return noValue
}

// byDefault evaluates the default of a location for its conditions and records the results. For
// permissive conditions a default is no value, except null for those that name null; for present it
// is, like null, both present and absent (K5).
func (g *absentees) byDefault(s *shape) []absence {
	probe := g.probe
	g.plan.blank()
	probe.reset(g.plan)
	for _, d := range s.location.Defaults() {
		probe.probe(s, d)
	}
	var all []absence
	sites := slices.Clone(s.under)
	for c := range g.plan.conds {
		// A guard may apply to shapes that share the root's site.
		k := &g.plan.conds[c]
		if site := slices.Index(g.plan.sites, int32(c)); k.on != "" && !k.origin && site >= 0 && (probe.conds[c].phase == holds || k.bundle >= 0 && probe.bundles[k.bundle].seen) {
			sites = append(sites, int32(site))
		}
	}
	for _, site := range sites {
		k, st := &g.plan.conds[g.plan.sites[site]], &probe.conds[g.plan.sites[site]]
		kind, fixed := noValue, false
		var found []int32
		switch {
		case k.origin: // no text has a value that nobody wrote
			fixed = slices.ContainsFunc(s.location.Defaults(), func(v jsonstream.Value) bool { return !isEmpty(v) })
		case k.permissive && (!k.null || !slices.ContainsFunc(s.location.Defaults(), isNull) || slices.ContainsFunc(s.location.Defaults(), isValue)):
		case k.bundle >= 0:
			if b := &probe.bundles[k.bundle]; b.seen {
				kind, found = byDefault, b.rules(k.all)
			}
		case k.kind == condition.Present && !k.value:
			kind = byDefault
		case st.phase == holds || k.all && st.leaf && st.phase != failed:
			kind = byDefault
		case st.phase == failed:
			kind = notDefault
		}
		all = append(all, absence{site, kind, found, fixed})
	}
	return all
}

func isNull(v jsonstream.Value) bool { return v.Kind() == jsonstream.Null }

func isValue(v jsonstream.Value) bool { return v.Kind() != jsonstream.Null }
