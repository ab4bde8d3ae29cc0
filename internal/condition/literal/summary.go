package literal

import "math"

// Classes is the number of classes of members: one for each mode of a rule.
const Classes = 5

// None is no member. It is larger than every member.
const None int32 = math.MaxInt32

// Summary contains the first member of each class. [Empty] returns an empty one.
type Summary struct {
	of    [Classes]int32 // None for a class without members
	first int32          // of all classes
}

// Empty returns the summary of no members.
func Empty() Summary { return Summary{of: [Classes]int32{None, None, None, None, None}, first: None} }

// Add adds a member.
func (s *Summary) Add(member int32, class uint8) {
	s.of[class] = min(s.of[class], member)
	s.first = min(s.first, member)
}

// First returns the first of all members, None if there is none.
func (s *Summary) First() int32 { return s.first }

// Of returns the first member of each class, None where there is none.
func (s *Summary) Of() *[Classes]int32 { return &s.of }

// Merge adds the members of another summary.
func (s *Summary) Merge(o *Summary) {
	if o.first == None {
		return
	}
	for i := range s.of {
		s.of[i] = min(s.of[i], o.of[i])
	}
	s.first = min(s.first, o.first)
}

// Same reports whether two summaries have members before end in the same classes.
func (s *Summary) Same(o *Summary, end int32) bool {
	for i := range s.of {
		if (s.of[i] < end) != (o.of[i] < end) {
			return false
		}
	}
	return true
}
