package match

import (
	"io/fs"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

// Target is what a condition looks at: what the schema says about its pointer.
type Target struct {
	// Type is the set of non-null types the pointer can reach (K23); a pointer
	// that ends at an array has the types of its elements and [schema.Array] (K22).
	// The zero Type is an unknown schema: every matcher fits.
	Type       schema.Type
	Annotation schema.Annotation
	// Paths says that the condition is about the paths that a command line reads and
	// writes, not about its words (K0a).
	Paths bool
	// Below says of such a condition that it also looks at what is read without being
	// named; see [Matcher.Sweeps].
	Below bool
	// ReadsJudged and WritesJudged say that another condition of the same rule judges
	// the redirections of a command line, which otherwise satisfy nothing permissive.
	ReadsJudged, WritesJudged bool
	// Expands says that the tool expands wildcards and braces in the value (C15).
	Expands bool
}

// Env holds the directories that paths are read against. They are inputs of the
// policy, never read from the machine (K19).
type Env struct {
	// Root is the absolute directory that the relative paths of rules start from, and those
	// of calls unless there is a Dir; "" if unknown.
	Root string
	// Home is the absolute directory that ~ and $HOME stand for, "" if unknown.
	Home string
	// Dir is the absolute directory in which the relative paths of a call begin where
	// that is not the root, "" otherwise: an agent works below its project, and moves.
	Dir string
	// Run is the absolute directory in which the command lines of a call run where the call
	// itself names one, "" otherwise. Doubt says that the tool may stay in Dir all the same:
	// relative paths are then suspected in both, and certain in neither.
	// Lost says that nobody knows where they run: a relative path may be any.
	Run         string
	Doubt, Lost bool
	// also is a second directory in which relative paths may begin; lost says that they may
	// begin anywhere.
	also string
	lost bool
	// Links follows symbolic links where the gate sees the file system of the tools, nil
	// elsewhere: paths are then compared as they are written (C5).
	Links *Links
	// Gates are the ports of this machine, between blanks, on which gates are known to listen.
	Gates string
	// Settings says what is protected beside what the list names; nil for nothing.
	Settings *Settings
	// Checked says that the conditions were compiled before, without a mistake: what no
	// value needs is not read.
	Checked bool
}

// Links knows the file system that tools work in.
type Links struct {
	// Real returns what an absolute path names once all links are followed, as an absolute
	// path, or false if nobody knows. It has to be safe for concurrent use.
	Real func(path string) (real string, ok bool)
	// Walk makes a function that says what Real says and may remember what it saw, for one
	// string that is judged, by one goroutine; nil where nothing is worth remembering.
	Walk func() func(path string) (real string, ok bool)
	// Files calls each for what lies below a directory, at any depth, without following links:
	// with its name below the directory, and its type. whole says that this was all, and that
	// the directory is there. nil: nobody looks. It has to be safe for concurrent use.
	Files func(dir string, each func(name string, mode fs.FileMode)) (whole bool)
	// Has reports that something may lie at a path, nil where nobody looks. It has to be safe
	// for concurrent use.
	Has func(path string) bool
}

// Result is what is known about a condition on one value. The zero Result is
// Undecided.
type Result uint8

// A condition leaves Undecided once.
const (
	Undecided Result = iota
	Hit
	Miss
)

// String names the result in lower case.
func (r Result) String() string {
	switch r {
	case Hit:
		return "hit"
	case Miss:
		return "miss"
	}
	return "undecided"
}

// Budget is the length in bytes up to which command lines and patches are taken apart. A condition on a longer one is decided on the strict side; see [Matcher.Exceeds].
// Strings, paths and URLs are judged whatever their length.
const Budget = 1 << 20

// State is one matcher's view of one string that is still arriving. It is a
// plain value: copy it, embed it, reuse it with [Matcher.Start].
type State struct {
	at   uint32 // state of the automaton, or code points counted
	tail uint32 // white space counted that is not yet known to be inside

	machine regular.State // of the automaton of a pattern
}

// Matcher is one compiled condition. It is immutable.
type Matcher struct {
	kind        Kind
	restrictive bool
	fits        schema.Type
	text        textTest
	values      valueTest
	want, value bool // of Present; see [Spec.Presence]
	unbuilt     bool // only what Compile would refuse is of interest

	annotation schema.Annotation
	env        Env
	written    []string // the literals of text matchers, for analysis
}

// textTest judges whole strings. Implementations that also implement stepTest
// judge them while they arrive.
type textTest interface {
	// match judges a complete, valid string.
	match(value []byte) bool
}

// stepTest judges a string code point by code point.
type stepTest interface {
	textTest
	start(s *State) Result
	// feed consumes text, which holds whole code points, and stops behind the code
	// point that decides.
	feed(s *State, text []byte) (Result, int)
	end(s *State) bool
}

// Compile prepares a condition for a target and a polarity. A restrictive
// matcher suspects, a permissive one needs certainty. The error is a *SpecError.
func Compile(s Spec, t Target, restrictive bool, env Env) (*Matcher, error) {
	m := newMatcher(s, &t, restrictive, env)
	if err := m.compile(s, t, env); err != nil {
		err.Kind = s.Kind
		return nil, err
	}
	return m, nil
}

// newMatcher is a matcher of which nothing is compiled. An argument vector is looked at as
// the command line that it stands for ([Value.ResetWords]).
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

// Fits returns the types of values the matcher looks at, a subset of the
// target's. A value of another type matches nothing and counts as a branch that
// does not resolve (K23).
func (m *Matcher) Fits() schema.Type { return m.fits }

// Incremental reports whether a string can be decided before its end. If not,
// Feed decides nothing and the answer comes from Whole.
func (m *Matcher) Incremental() bool { _, ok := m.text.(stepTest); return ok }

// Start begins a new string and returns what is known before its first byte.
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

// Feed takes the next decoded bytes of the string; they hold whole code points.
// It returns what is known now and the number of bytes of text after which the
// answer left Undecided (all of them while it has not), always at the end of a
// code point. The answer does not depend on how the string was cut.
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

// End returns Hit or Miss for a string that is complete. Only a matcher that is
// Incremental knows it; for any other End answers on the strict side.
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

// strict is the answer that cannot weaken a verdict.
func (m *Matcher) strict() Result {
	if m.restrictive {
		return Hit
	}
	return Miss
}

// Whole judges a complete string.
func (m *Matcher) Whole(value []byte) bool {
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

// Number judges a number (D25-24 to D25-27).
func (m *Matcher) Number(d jsonstream.Decimal) bool { return m.values.number(d) }

// Bool judges a boolean (D25-29).
func (m *Matcher) Bool(b bool) bool { return m.values.boolean(b) }

// Null reports whether null satisfies the condition: only a const or enum that names it.
func (m *Matcher) Null() bool { return m.values.isNull }

// Canonical judges an object by its canonical text as [jsonstream.AppendCanonical]
// writes it (D25-20).
func (m *Matcher) Canonical(text []byte) bool { return m.values.canonical(text) }

// Items judges the number of elements of an array (min_items, max_items).
func (m *Matcher) Items(n int) bool { return m.values.items(n) }

// WantsPresent returns what a [Present] condition asks for. Presence is not a
// test of a value: the evaluator counts branches (K5).
func (m *Matcher) WantsPresent() bool { return m.want }
