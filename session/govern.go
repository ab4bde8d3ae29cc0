package session

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// governed is what a set says about one tool.
type governed struct {
	entries []entry
	early   bool   // some can speak before any argument
	late    bool   // some need arguments
	foreign bool   // some are written elsewhere
	needs   []Key  // of the policies of this package without a key, and [Self]
	marks   []Mark // of the same, and that of every call
	watched []jsonstream.Pointer
	seen    []*Set // the policies that each of the watched pointers is enough for
	set     *Set   // the same as a set
}

// maxTools bounds the memory of tools: names come from models.
const maxTools = 1024

// nothing governs no tool.
var nothing = &governed{set: &Set{}, needs: []Key{Self}}

func (s *Set) govern(tool stopgate.ToolName) *governed {
	if s.one != nil {
		return s.one
	}
	if len(s.policies) == 0 {
		return nothing
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g, ok := s.tools[tool]; ok {
		return g
	}
	g := &governed{needs: []Key{Self}, marks: []Mark{everyCall(tool)}}
	g.set = &Set{one: g}
	for _, e := range s.policies {
		if e.policy.Tools().Match(tool) {
			g.add(e, tool)
		}
	}
	g.set.policies = g.entries
	g.watch(tool)
	if s.tools != nil && len(s.tools) < maxTools {
		s.tools[tool] = g
	}
	return g
}

// add makes a policy one of those that hear of the tool.
func (g *governed) add(e entry, tool stopgate.ToolName) {
	e.keyless, e.bounded = keyless(e.policy), Bounded(e.policy)
	e.turns, _ = as[Switch](e.policy)
	e.keys = keysOf(e.policy)
	any := Call{Tool: tool}
	if c, ok := e.policy.(*conditional); ok && c.data {
		g.needs = addKeys(g.needs, c.needs)
	}
	if own := ours(inner(e.policy)); own != nil {
		if e.ours = own.about(tool); e.keyless {
			g.needs = addKeys(g.needs, e.ours.needs(nil, &any))
		}
	}
	if m, ok := as[Marker](e.policy); ok {
		e.marker = m
		if own := ours(m); own != nil {
			if e.marks = own.about(tool); e.keyless {
				g.marks = addMarks(g.marks, e.marks.marks(nil, &any))
			}
		}
	}
	g.entries = append(g.entries, e)
	g.foreign = g.foreign || !e.bounded
	g.early, g.late = g.early || e.keyless, g.late || !e.keyless
}

// keyless reports that a policy decides without any argument. Of a policy written
// elsewhere nobody knows.
func keyless(p Policy) bool {
	k, ok := as[interface{ needsArgs() bool }](p)
	return ok && !k.needsArgs()
}

// Watched are the pointers whose values already tell some policies what they need of
// a call of the tool, before its arguments are complete: see [Set.Seen].
func (s *Set) Watched(tool stopgate.ToolName) []jsonstream.Pointer { return s.govern(tool).watched }

// Seen returns the policies that can judge a call of which only one argument is
// known, the one at a watched pointer.
func (s *Set) Seen(tool stopgate.ToolName, pointer jsonstream.Pointer) *Set {
	g := s.govern(tool)
	i := slices.IndexFunc(g.watched, func(p jsonstream.Pointer) bool { return slices.Equal(p, pointer) })
	if i < 0 {
		return &Set{}
	}
	return g.seen[i]
}

// watch finds the watched pointers and who judges by each.
func (g *governed) watch(tool stopgate.ToolName) {
	for _, e := range g.entries {
		for _, p := range watched(e, tool) {
			i := slices.IndexFunc(g.watched, func(q jsonstream.Pointer) bool { return slices.Equal(p, q) })
			if i < 0 {
				i = len(g.watched)
				g.watched, g.seen = append(g.watched, p), append(g.seen, &Set{one: &governed{late: true}})
			}
			s := g.seen[i]
			s.policies = append(s.policies, e)
			s.one.entries, s.one.foreign, s.one.set = s.policies, s.one.foreign || !e.bounded, s
		}
	}
}

// watched lists the pointers by which a policy may deny early: where every later
// argument could only make it deny too.
func watched(e entry, tool stopgate.ToolName) []jsonstream.Pointer {
	var k keyer
	switch p := inner(e.policy).(type) {
	case *Requirement:
		if p.missing == denyMissing && p.before.Match(tool) {
			k = p.key
		}
	case *Files:
		if p.missing == denyMissing && p.hash == nil && p.writes.Match(tool) {
			k = p.key
		}
	}
	if !e.enabled {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(k.pointers), func(p jsonstream.Pointer) bool { return len(p) != 1 || p[0] == "*" })
}
