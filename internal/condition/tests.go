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

// ValueTest evaluates a complete string by forms that it shares with other tests.
type ValueTest interface {
	TextTest
	Judge(v *Value) bool
}

// UnknownTest evaluates paths, or command lines that name paths. It may not know the files that a
// value names, and a value may satisfy it only because it is long.
type UnknownTest interface {
	ValueTest
	// MayBeUnknown reports whether Unknown can be non-zero for any value.
	MayBeUnknown() bool
	Unknown(v *Value) Unknown
	// ExceedsBy reports whether the length of a value decided the test instead of its readings.
	ExceedsBy(v *Value) bool
	// ReadsAs reports whether another test has the same unknown facts for every value.
	ReadsAs(other TextTest) bool
}

// LineTest evaluates command lines, and each of their simple commands.
type LineTest interface {
	UnknownTest
	// Command evaluates one simple command of a line.
	Command(v *Value, i int) bool
	// Names evaluates the words of one simple command: without the commands that it runs, and
	// without the line as written.
	Names(v *Value, i int) bool
	// WithRedirects returns the test with [Target.ReadsJudged] and WritesJudged set.
	WithRedirects(readsJudged, writesJudged bool) LineTest
	// Sweeping reports whether Sweeps can be true for any value.
	Sweeping() bool
	// Sweeps reports whether the test could match a file that a command line reads without naming
	// it, in a directory that it reads completely, or could stop matching one in a directory that
	// it renames.
	Sweeps(v *Value) bool
	// Suspect finds the word because of which the test holds; ok is false if there is no such
	// single word.
	Suspect(v *Value) (found Suspect, ok bool)
}

// Suspect is the word of a command line that satisfies a restrictive condition on paths. Expands is
// set if no word of the line is such a file as written: the shell may expand this word to one.
type Suspect struct {
	Word    string
	Expands bool
}
