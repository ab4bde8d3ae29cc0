package session

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// governed holds the policies of a set that govern one tool.
type governed struct {
	entries []entry
	early   bool // some decide before any argument
	late    bool // some need arguments
	foreign bool // some are not [Bounded]
	results bool // some are an [Observer]
	watched []jsonstream.Pointer
	byValue []*Set // the policies that watch each of the pointers
	set     *Set   // the entries as a set
}

// maxTools bounds the cache of tools: their names come from models.
const maxTools = 1024

// ungoverned is the result for a set without policies.
var ungoverned = &governed{set: &Set{}}

func (s *Set) govern(tool stopgate.ToolName) *governed {
	if s.single != nil {
		return s.single
	}
	if len(s.policies) == 0 {
		return ungoverned
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g, ok := s.tools[tool]; ok {
		return g
	}
	g := new(governed)
	g.set = &Set{single: g}
	for _, e := range s.policies {
		if e.policy.Tools().Match(tool) {
			g.add(e, tool)
		}
	}
	g.set.policies = g.entries
	if s.tools != nil && len(s.tools) < maxTools {
		s.tools[tool] = g
	}
	return g
}

// add adds a policy that governs the tool.
func (g *governed) add(e entry, tool stopgate.ToolName) {
	keyed, ok := as[Keyed](e.policy)
	e.keyless, e.bounded = ok && !keyed.NeedsArguments(), isBounded(e.policy)
	e.active, _ = as[Switch](e.policy)
	e.marker, _ = as[Marker](e.policy)
	e.observer = observerOf(e.policy)
	g.entries, g.results = append(g.entries, e), g.results || e.observer != nil
	g.foreign = g.foreign || !e.bounded
	g.early, g.late = g.early || e.keyless, g.late || !e.keyless
	if e.enabled && e.bounded {
		g.watch(e, tool)
	}
}

// watch adds the pointers that a policy watches.
func (g *governed) watch(e entry, tool stopgate.ToolName) {
	watcher, ok := as[Watcher](e.policy)
	if !ok {
		return
	}
	for _, p := range watcher.Watched(tool) {
		i := slices.IndexFunc(g.watched, func(q jsonstream.Pointer) bool { return slices.Equal(p, q) })
		if i < 0 {
			i = len(g.watched)
			g.watched, g.byValue = append(g.watched, p), append(g.byValue, &Set{single: &governed{late: true}})
		}
		s := g.byValue[i]
		s.policies = append(s.policies, e)
		s.single.entries, s.single.set = s.policies, s
	}
}

// Watched returns the pointers whose values are enough for some policies to deny a call of
// the tool before its arguments are complete, see [Set.Seen].
func (s *Set) Watched(tool stopgate.ToolName) []jsonstream.Pointer { return s.govern(tool).watched }

// Seen returns the policies that can judge a call of which only the argument at a watched
// pointer is known.
func (s *Set) Seen(tool stopgate.ToolName, pointer jsonstream.Pointer) *Set {
	g := s.govern(tool)
	i := slices.IndexFunc(g.watched, func(p jsonstream.Pointer) bool { return slices.Equal(p, pointer) })
	if i < 0 {
		return &Set{}
	}
	return g.byValue[i]
}
