package session

import (
	"slices"
	"sync"

	"github.com/stopgate/stopgate"
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
		if has := &keys[i]; has.Space == k.Space && has.is(k) {
			return keys
		}
	}
	return append(keys, *k)
}

// Join returns the policies of both sets, those of the first before.
func Join(a, b *Set) *Set {
	return &Set{policies: slices.Concat(a.policies, b.policies), tools: make(map[stopgate.ToolName]*governed)}
}

// Marks are what a released call does to the cells of all policies, disabled and
// inactive ones included (H11): each mark once.
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
