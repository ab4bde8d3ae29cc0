package match

import "github.com/stopgate/stopgate/internal/regexp/regular"

// Result is the state of a condition on one value. The zero Result is Undecided.
type Result uint8

// A condition leaves Undecided once and does not change afterwards.
const (
	Undecided Result = iota
	Hit
	Miss
)

// String returns the result in lower case.
func (r Result) String() string {
	switch r {
	case Hit:
		return "hit"
	case Miss:
		return "miss"
	}
	return "undecided"
}

// State is the state of a matcher in one string that is still arriving. It is a plain value that
// can be copied and reused with [Matcher.Start].
type State struct {
	at   uint32 // state of the automaton, or code points counted
	tail uint32 // white space that may turn out to be trailing

	machine regular.State // of the automaton of a pattern
}

// textTest evaluates complete strings. Implementations that also implement stepTest evaluate them
// while they arrive.
type textTest interface {
	// match evaluates a complete, valid string.
	match(value []byte) bool
}

// stepTest evaluates a string code point by code point.
type stepTest interface {
	textTest
	start(s *State) Result
	// feed consumes text, which contains complete code points, and stops after the one that
	// decides.
	feed(s *State, text []byte) (Result, int)
	end(s *State) bool
}
