package match

import (
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Budget is the length in bytes up to which command lines and patches are parsed. A condition on a
// longer one fails closed; see [Matcher.Exceeds]. Strings, paths and URLs are evaluated at any
// length.
const Budget = 1 << 20

// Matcher is one compiled condition. It is immutable.
type Matcher struct {
	kind        Kind
	restrictive bool
	fits        schema.Type
	text        textTest
	values      valueTest
	want, value bool // for Present; see [Spec.Presence]

	annotation schema.Annotation
	env        Env
	written    []string // the literals of text matchers, for analysis
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
