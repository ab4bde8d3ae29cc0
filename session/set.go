package session

import (
	"slices"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Set is the policies of a registry at one moment. It does not change.
type Set struct {
	policies []entry
	one      *governed // of a set that is about one tool

	mu    sync.Mutex
	tools map[stopgate.ToolName]*governed // memory of [Set.govern]
}

type entry struct {
	policy  Policy
	enabled bool
	// What the policy is, found once for a tool: see [Set.govern].
	keyless bool // it decides without any argument
	bounded bool // see [Bounded]
	turns   Switch
	ours    part // of the policy itself
	marker  Marker
	marks   part // of the marker
	keys    *keyer
}

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

// Len returns how many policies there are.
func (s *Set) Len() int { return len(s.policies) }

// All returns every policy, in registration order.
func (s *Set) All() []Policy {
	var all []Policy
	for _, e := range s.policies {
		all = append(all, e.policy)
	}
	return all
}

// Enabled reports whether a policy is registered and turned on.
func (s *Set) Enabled(name string) bool {
	i := s.index(name)
	return i >= 0 && s.policies[i].enabled
}

func (s *Set) index(name string) int {
	return slices.IndexFunc(s.policies, func(e entry) bool { return e.policy.Name() == name })
}

// For returns the policies that hear of a tool, as a set to be asked about nothing
// else.
func (s *Set) For(tool stopgate.ToolName) *Set { return s.govern(tool).set }

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

// PoliciesFor returns the policies that hear of a tool, in registration order.
func (s *Set) PoliciesFor(tool stopgate.ToolName) []Policy {
	var some []Policy
	for _, e := range s.govern(tool).entries {
		some = append(some, e.policy)
	}
	return some
}

// Governs reports whether any policy hears of the tool.
func (s *Set) Governs(tool stopgate.ToolName) bool { return len(s.govern(tool).entries) > 0 }

// Early reports whether some policy can deny the tool before any argument came.
func (s *Set) Early(tool stopgate.ToolName) bool { return s.govern(tool).early }

// Keyed reports whether some policy needs the tool's arguments.
func (s *Set) Keyed(tool stopgate.ToolName) bool { return s.govern(tool).late }

// Foreign reports whether code from elsewhere hears of the tool.
func (s *Set) Foreign(tool stopgate.ToolName) bool { return s.govern(tool).foreign }

// asked reports whether a policy is asked about a call as far as it is known: one
// that needs arguments waits for them.
func (e *entry) asked(c *Call) bool {
	return e.enabled && (c.Args.IsValid() || e.keyless)
}

// usualKeys is room for the keys of an ordinary call and of the facts about it.
const usualKeys = 16

// Needs are the cells that a check of the call looks at, without repetitions.
func (s *Set) Needs(c Call) []Key {
	return s.AppendNeeds(make([]Key, 0, usualKeys), &c)
}

// AppendNeeds is Needs into a list without any.
func (s *Set) AppendNeeds(keys []Key, c *Call) []Key {
	g := s.govern(c.Tool)
	keys = append(keys, g.needs...)
	for i := range g.entries {
		e, known := &g.entries[i], len(keys)
		switch {
		case e.keyless && e.ours != nil, !c.Args.IsValid() && !e.keyless:
			continue
		case e.ours != nil:
			keys = e.ours.needs(keys, c)
		default:
			keys = append(keys, e.policy.Needs(*c)...)
		}
		keys = addKeys(keys[:known], keys[known:])
	}
	return keys
}

// addMarks adds marks that are not there. They may stand right behind the others.
func addMarks(marks, some []Mark) []Mark {
next:
	for i := range some {
		for j := range marks {
			if marks[j].Key.is(&some[i].Key) && marks[j] == some[i] {
				continue next
			}
		}
		marks = append(marks, some[i])
	}
	return marks
}

// addKeys adds keys that are not there. They may stand right behind the others.
func addKeys(keys, some []Key) []Key {
	for i := range some {
		keys = addKey(keys, &some[i])
	}
	return keys
}

// addKey adds a key that is not there.
func addKey(keys []Key, k *Key) []Key {
	for i := range keys {
		if keys[i].is(k) {
			return keys
		}
	}
	return append(keys, *k)
}

// CheckAll asks every policy that governs the call. All objections are collected,
// in registration order, and the first is the primary one (REQUIREMENTS X2); without
// any the primary decision allows (TPS-12: that is no objection, not a permission).
func (s *Set) CheckAll(v View, c Call) (primary Decision, all []Decision) {
	return s.CheckEach(&v, &c, func(_ Policy, f func() Decision) Decision { return f() })
}

// CheckEach is CheckAll with every policy that is not [Bounded] run by a function,
// for a caller that bounds what code from elsewhere may take: that gets copies.
func (s *Set) CheckEach(v *View, c *Call, run func(Policy, func() Decision) Decision) (primary Decision, all []Decision) {
	entries := s.govern(c.Tool).entries
	for i := range entries {
		e := &entries[i]
		if !e.asked(c) {
			continue
		}
		var d Decision
		if e.bounded {
			d = e.check(v, c)
		} else {
			d = e.elsewhere(*v, *c, run)
		}
		if d.Allowed {
			continue
		}
		if d.Policy = e.policy.Name(); !d.Code.Valid() {
			d.Code = stopgate.CodeInvalidPolicyResult
		}
		all = append(all, d)
	}
	if len(all) == 0 {
		return Allow(), nil
	}
	return all[0], all
}

func (e *entry) check(v *View, c *Call) Decision {
	switch {
	case e.turns != nil && !e.turns.Active(*v):
		return Allow()
	case e.ours != nil:
		return e.ours.check(v, c)
	}
	return e.policy.Check(*v, *c)
}

// elsewhere is check of a policy that somebody else wrote.
func (e *entry) elsewhere(v View, c Call, run func(Policy, func() Decision) Decision) Decision {
	return run(e.policy, func() Decision { return e.check(&v, &c) })
}

// Bounded reports whether a policy is one of this package's own, alone or in case
// of data: its cost is bounded by construction and needs no deadline (K39).
func Bounded(p Policy) bool {
	switch p := p.(type) {
	case *Requirement, *Files, *Quota:
		return true
	case *conditional:
		return p.data && Bounded(p.Policy)
	}
	return false
}

// Join returns the policies of both sets, those of the first before.
func Join(a, b *Set) *Set {
	return &Set{policies: slices.Concat(a.policies, b.policies), tools: make(map[stopgate.ToolName]*governed)}
}

// Marks are what a released call does to the cells of all policies, disabled and
// inactive ones included (THREATS H11): each mark once.
func (s *Set) Marks(c Call) []Mark { return s.AppendMarks(nil, &c) }

// AppendMarks is Marks into a list without any.
func (s *Set) AppendMarks(marks []Mark, c *Call) []Mark {
	g := s.govern(c.Tool)
	if g == nothing {
		return append(marks, everyCall(c.Tool))
	}
	marks = append(marks, g.marks...)
	for i := range g.entries {
		e, known := &g.entries[i], len(marks)
		switch {
		case e.marker == nil, e.keyless && e.marks != nil:
			continue
		case e.marks != nil:
			marks = e.marks.marks(marks, c)
		default:
			marks = append(marks, e.marker.Marks(*c)...)
		}
		marks = addMarks(marks[:known], marks[known:])
	}
	return marks
}

// everyCall is the mark of every call of a tool.
func everyCall(tool stopgate.ToolName) Mark {
	return Mark{Key: ToolKey(tool), Permits: true, Opens: true}
}

// Observes reports whether a policy wants to hear of the tool's results, and the
// cells it then looks at.
func (s *Set) Observes(c Call) (keys []Key, ok bool) {
	for _, e := range s.govern(c.Tool).entries {
		if _, is := as[Observer](e.policy); is {
			keys, ok = append(keys, e.policy.Needs(c)...), true
		}
	}
	return keys, ok
}

// NotifyResult lets the policies note the result of a call that did not fail
// (TPS-08): what they return are the Noted facts on their own cells, everything else is
// dropped.
func (s *Set) NotifyResult(v View, r Result) []Fact {
	var notes []Fact
	if r.Kind != Succeeded && r.Kind != Finished {
		return nil
	}
	for _, e := range s.govern(r.Call.Tool).entries {
		o, ok := as[Observer](e.policy)
		if !ok {
			continue
		}
		for _, f := range o.OnResult(v, r) {
			if f.Kind == Noted && f.Key.Space == SpaceNote && f.Key.Name == f.Name && named(e.policy, f.Name) {
				f.At, f.Proposal, f.Tool, f.Observed = r.At, r.Call.Proposal, r.Call.Tool, r.Seen
				notes = append(notes, f)
			}
		}
	}
	return notes
}

// named reports whether a policy, or one inside it, has a name: a policy does not know
// what it is wrapped in.
func named(p Policy, name string) bool {
	for p != nil && p.Name() != name {
		w, wraps := p.(Unwrapper)
		if !wraps {
			return false
		}
		p = w.Unwrap()
	}
	return p != nil
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
