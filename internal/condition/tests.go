package condition

import (
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

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
// can be copied and reused with Start.
type State struct {
	At   uint32 // state of the automaton, or code points counted
	Tail uint32 // white space that may turn out to be trailing

	Machine regular.State // of the automaton of a pattern
}

// TextTest evaluates complete strings. Implementations that are also a [StepTest] evaluate them
// while they arrive.
type TextTest interface {
	// Match evaluates a complete, valid string.
	Match(value []byte) bool
}

// WalkedTest is a test with automata, for proofs: their union contains the plainly written strings
// that satisfy the test, and none that does not.
type WalkedTest interface {
	TextTest
	Automata() []automaton.Walker
}

// StepTest evaluates a string code point by code point.
type StepTest interface {
	TextTest
	Start(s *State) Result
	// Feed consumes text, which contains complete code points, and stops after the one that
	// decides.
	Feed(s *State, text []byte) (Result, int)
	End(s *State) bool
}
