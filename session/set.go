package session

import (
	"slices"
	"sync"

	"github.com/stopgate/stopgate"
)

// Set is the policies of a registry at one moment. It does not change.
type Set struct {
	policies []entry
	single   *governed // of a set for one tool

	mu    sync.Mutex
	tools map[stopgate.ToolName]*governed // cache of [Set.govern]
}

type entry struct {
	policy  Policy
	enabled bool
	// The optional interfaces of the policy, looked up once for a tool.
	keyless bool   // see [Keyed]
	bounded bool   // see [Bounded]
	active  Switch // nil: always active
	marker  Marker // nil: no marks

	observer func(View, Result) ([]Fact, error) // nil: it does not read results
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

// For returns the policies that govern a tool as a set, which must only be used for calls
// of that tool.
func (s *Set) For(tool stopgate.ToolName) *Set { return s.govern(tool).set }

// PoliciesFor returns the policies that govern a tool, in registration order.
func (s *Set) PoliciesFor(tool stopgate.ToolName) []Policy {
	var list []Policy
	for _, e := range s.govern(tool).entries {
		list = append(list, e.policy)
	}
	return list
}

// Governs reports whether any policy governs the tool.
func (s *Set) Governs(tool stopgate.ToolName) bool { return len(s.govern(tool).entries) > 0 }

// Idle returns the policies that may deny none of the tools, for example because of a misspelt
// name (H10, TPS-21).
func (s *Set) Idle(tools []stopgate.ToolName) (idle []Policy) {
	for _, e := range s.policies {
		denies := e.policy.Tools()
		if d, ok := as[denier](e.policy); ok {
			denies = d.Denies()
		}
		if !slices.ContainsFunc(tools, denies.Match) {
			idle = append(idle, e.policy)
		}
	}
	return idle
}

// Early reports whether some policy can deny the tool before any argument has arrived.
func (s *Set) Early(tool stopgate.ToolName) bool { return s.govern(tool).early }

// Keyed reports whether some policy needs the tool's arguments.
func (s *Set) Keyed(tool stopgate.ToolName) bool { return s.govern(tool).late }

// Foreign reports whether a policy that is not [Bounded] governs the tool.
func (s *Set) Foreign(tool stopgate.ToolName) bool { return s.govern(tool).foreign }

// typicalKeys is the capacity for the keys that an ordinary call reads.
const typicalKeys = 8

// Needs returns the cells that a check of the call reads, without duplicates.
func (s *Set) Needs(c Call) []Key {
	return s.AppendNeeds(make([]Key, 0, typicalKeys), &c)
}

// AppendNeeds appends the needs to an empty list.
func (s *Set) AppendNeeds(keys []Key, c *Call) []Key {
	keys = append(keys, Self)
	entries := s.govern(c.Tool).entries
	for i := range entries {
		if e := &entries[i]; c.Args.IsValid() || e.keyless {
			keys = addKeys(keys, e.policy.Needs(*c))
		}
	}
	return keys
}

// addMarks adds the marks that are not in the list.
func addMarks(marks, more []Mark) []Mark {
next:
	for i := range more {
		for j := range marks {
			if marks[j].Key.is(&more[i].Key) && marks[j] == more[i] {
				continue next
			}
		}
		marks = append(marks, more[i])
	}
	return marks
}

// addKeys adds the keys that are not in the list.
func addKeys(keys, more []Key) []Key {
	for i := range more {
		keys = addKey(keys, &more[i])
	}
	return keys
}

// addKey adds a key that is not in the list.
func addKey(keys []Key, k *Key) []Key {
	for i := range keys {
		if existing := &keys[i]; existing.Space == k.Space && existing.is(k) {
			return keys
		}
	}
	return append(keys, *k)
}

// Join returns the policies of both sets, those of a first.
func Join(a, b *Set) *Set {
	return &Set{policies: slices.Concat(a.policies, b.policies), tools: make(map[stopgate.ToolName]*governed)}
}

// Marks returns the marks of a call on the cells of all policies, disabled and inactive ones
// included (H11), without duplicates.
func (s *Set) Marks(c Call) []Mark { return s.AppendMarks(nil, &c) }

// AppendMarks appends the marks to an empty list.
func (s *Set) AppendMarks(marks []Mark, c *Call) []Mark {
	marks = append(marks, toolMark(c.Tool))
	entries := s.govern(c.Tool).entries
	for i := range entries {
		if m := entries[i].marker; m != nil {
			marks = addMarks(marks, m.Marks(*c))
		}
	}
	return marks
}

// ToolKey returns the key of a tool's successes, which every call of the tool marks.
func ToolKey(tool stopgate.ToolName) Key { return Key{Space: SpaceTool, Name: string(tool)} }

// toolMark returns the mark of every call of a tool.
func toolMark(tool stopgate.ToolName) Mark {
	return Mark{Key: ToolKey(tool), Permits: true, Opens: true}
}
