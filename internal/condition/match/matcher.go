package match

import (
	"io/fs"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

// Target is the schema of the value that a condition applies to.
type Target struct {
	// Type is the set of non-null types at the pointer (K23); for an array they are the types of
	// its elements and [schema.Array] (K22). The zero Type is an unknown schema: every matcher
	// fits.
	Type       schema.Type
	Annotation schema.Annotation
	// Paths is set if the condition applies to the paths that a command line reads and writes, and
	// not to its words (K0a).
	Paths bool
	// Below is set if such a condition also applies to files that are read without being named; see
	// [Matcher.Sweeps].
	Below bool
	// ReadsJudged and WritesJudged are set if another condition of the same rule evaluates the
	// redirections of a command line, which otherwise satisfy no permissive condition.
	ReadsJudged, WritesJudged bool
	// Expands is set if the tool expands wildcards and braces in the value (C15).
	Expands bool
}

// Env contains the directories that paths are resolved against. They are inputs of the policy,
// never read from the machine (K19).
type Env struct {
	// Root is the absolute directory in which the relative paths of rules begin, and those of calls
	// without a Dir; "" if unknown.
	Root string
	// Home is the absolute directory of ~ and $HOME, "" if unknown.
	Home string
	// Dir is the absolute directory in which the relative paths of a call begin if it is not the
	// root, "" otherwise: an agent may work below its project.
	Dir string
	// Run is the absolute directory in which the command lines of a call run if the call itself
	// names one, "" otherwise. With MayStay the tool may ignore it and stay in Dir: relative paths
	// are then suspected in both, and certain in neither. With RunUnknown they may run anywhere: a
	// relative path may be any path.
	Run                 string
	MayStay, RunUnknown bool
	// also is a second directory in which relative paths may begin; with lost they may begin
	// anywhere.
	also string
	lost bool
	// Links follows symbolic links if the gate has access to the file system of the tools. It is
	// nil otherwise: paths are then compared as written (C5).
	Links *Links
	// Gates are the ports of this machine on which gates are known to listen, between blanks.
	Gates string
	// Settings are protected in addition to the built-in list; nil for none.
	Settings *Settings
	// Checked is set if the conditions were compiled before without a mistake: literals are then
	// parsed on demand.
	Checked bool
}

// Links is access to the file system that tools work in.
type Links struct {
	// Real returns the absolute path that an absolute path names after all links are followed,
	// false if it is unknown. It must be safe for concurrent use.
	Real func(path string) (real string, ok bool)
	// Walk returns a function like Real that may cache its results, for the evaluation of one
	// string by one goroutine; nil if caching is not worthwhile.
	Walk func() func(path string) (real string, ok bool)
	// Files calls each for every file below a directory, at any depth, without following links:
	// with its name relative to the directory, and its type. It returns true if the list is
	// complete and the directory exists. It is nil without access, and must be safe for concurrent
	// use.
	Files func(dir string, each func(name string, mode fs.FileMode)) (complete bool)
	// Has reports whether a path may exist, nil without access. It must be safe for concurrent use.
	Has func(path string) bool
}

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

// Budget is the length in bytes up to which command lines and patches are parsed. A condition on a
// longer one fails closed; see [Matcher.Exceeds]. Strings, paths and URLs are evaluated at any
// length.
const Budget = 1 << 20

// State is the state of a matcher in one string that is still arriving. It is a plain value that
// can be copied and reused with [Matcher.Start].
type State struct {
	at   uint32 // state of the automaton, or code points counted
	tail uint32 // white space that may turn out to be trailing

	machine regular.State // of the automaton of a pattern
}

// Matcher is one compiled condition. It is immutable.
type Matcher struct {
	kind        Kind
	restrictive bool
	fits        schema.Type
	text        textTest
	values      valueTest
	want, value bool // for Present; see [Spec.Presence]
	unbuilt     bool // only check for errors

	annotation schema.Annotation
	env        Env
	written    []string // the literals of text matchers, for analysis
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

// Compile compiles a condition for a target and a polarity. The error is a *SpecError.
func Compile(s Spec, t Target, restrictive bool, env Env) (*Matcher, error) {
	m := newMatcher(s, &t, restrictive, env)
	if err := m.compile(s, t, env); err != nil {
		err.Kind = s.Kind
		return nil, err
	}
	return m, nil
}

// newMatcher returns a matcher without compiled literals. An argument vector is evaluated as the
// equivalent command line ([Value.ResetWords]).
func newMatcher(s Spec, t *Target, restrictive bool, env Env) *Matcher {
	if t.Annotation == schema.Argv {
		t.Annotation = schema.Command
	}
	return &Matcher{kind: s.Kind, restrictive: restrictive, annotation: t.Annotation, env: env}
}

// Kind returns the matcher's kind.
func (m *Matcher) Kind() Kind { return m.kind }

// Annotation returns the annotation of the target that the matcher was compiled for.
func (m *Matcher) Annotation() schema.Annotation { return m.annotation }

// Fits returns the types of values that the matcher applies to, a subset of the target's. A value
// of another type does not match and counts as a branch that does not resolve (K23).
func (m *Matcher) Fits() schema.Type { return m.fits }

// Incremental reports whether a string can be decided before its end. If not, Feed decides nothing;
// use Match.
func (m *Matcher) Incremental() bool { _, ok := m.text.(stepTest); return ok }

// Start begins a new string and returns the result before its first byte.
func (m *Matcher) Start(s *State) Result {
	*s = State{}
	switch test := m.text.(type) {
	case nil:
		return Miss
	case stepTest:
		return test.start(s)
	}
	return Undecided
}

// Feed reads the next decoded bytes of the string, which must be complete code points. It returns
// the result so far and the number of bytes after which it left Undecided (all of them if it did
// not), always at the end of a code point. The result does not depend on the chunks.
func (m *Matcher) Feed(s *State, text []byte) (Result, int) {
	if test, ok := m.text.(stepTest); ok {
		return test.feed(s, text)
	}
	return Undecided, len(text)
}

// PointLength returns the number of bytes of the code point that text begins with.
func PointLength(text []byte) int {
	_, size := utf8.DecodeRune(text)
	return size
}

// End returns Hit or Miss for a complete string. It requires an Incremental matcher; for others it
// fails closed.
func (m *Matcher) End(s *State) Result {
	test, ok := m.text.(stepTest)
	if !ok {
		return m.strict()
	}
	if test.end(s) {
		return Hit
	}
	return Miss
}

// strict returns the result that cannot weaken a verdict.
func (m *Matcher) strict() Result {
	if m.restrictive {
		return Hit
	}
	return Miss
}

// Match evaluates a complete string.
func (m *Matcher) Match(value []byte) bool {
	if m.text == nil {
		return false
	}
	if !utf8.Valid(value) {
		return m.restrictive
	}
	if m.exceeds(value) {
		return m.restrictive
	}
	return m.text.match(value)
}

// Number evaluates a number (D25-24 to D25-27).
func (m *Matcher) Number(d jsonstream.Decimal) bool { return m.values.number(d) }

// Bool evaluates a boolean (D25-29).
func (m *Matcher) Bool(b bool) bool { return m.values.boolean(b) }

// Null reports whether null satisfies the condition: only for a const or enum that contains it.
func (m *Matcher) Null() bool { return m.values.isNull }

// Canonical evaluates an object by its canonical text, see [jsonstream.AppendCanonical] (D25-20).
func (m *Matcher) Canonical(text []byte) bool { return m.values.canonical(text) }

// Items evaluates the number of elements of an array (min_items, max_items).
func (m *Matcher) Items(n int) bool { return m.values.items(n) }

// WantsPresent returns the value of a [Present] condition. Package eval evaluates it by counting
// branches (K5).
func (m *Matcher) WantsPresent() bool { return m.want }
