package literal

import "math"

// Classes is how many classes members are sorted into: one for each mode of a rule.
const Classes = 5

// None stands for no member; it is larger than every member.
const None int32 = math.MaxInt32

// Summary is the first member of each class, None where there is none.
type Summary [Classes]int32

// Empty returns the summary of no members.
func Empty() Summary { return Summary{None, None, None, None, None} }

// Add adds a member.
func (s *Summary) Add(member int32, class uint8) { s[class] = min(s[class], member) }

// First returns the first of all members, None if there is none.
func (s *Summary) First() int32 {
	first := None
	for _, m := range s {
		first = min(first, m)
	}
	return first
}

// Merge adds the members of another summary.
func (s *Summary) Merge(o *Summary) {
	for i := range s {
		s[i] = min(s[i], o[i])
	}
}
