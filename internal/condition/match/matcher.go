package match

import (
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Matcher is one compiled condition. It is immutable.
type Matcher struct {
	kind        condition.Kind
	restrictive bool
	fits        schema.Type
	text        condition.TextTest
	origin      condition.OriginTest // text, if it looks at origins
	values      *condition.Values
	want, value bool // for Present; see [condition.Spec.Presence]

	annotation schema.Annotation
	env        *condition.Env
	written    []string // the literals of text matchers, for analysis
}

// Kind returns the matcher's kind.
func (m *Matcher) Kind() condition.Kind { return m.kind }

// Annotation returns the annotation of the target that the matcher was compiled for.
func (m *Matcher) Annotation() schema.Annotation { return m.annotation }

// Fits returns the types of values that the matcher applies to, a subset of the target's. A value
// of another type does not match and counts as a branch that does not resolve (K23).
func (m *Matcher) Fits() schema.Type { return m.fits }

// Incremental reports whether a string can be decided before its end. If not, use Match instead of
// Feed.
func (m *Matcher) Incremental() bool { _, ok := m.text.(condition.StepTest); return ok }

// Start begins a new string and returns the result before its first byte.
func (m *Matcher) Start(s *condition.State) condition.Result {
	*s = condition.State{}
	switch test := m.text.(type) {
	case nil:
		return condition.Miss
	case condition.StepTest:
		return test.Start(s)
	}
	return condition.Undecided
}

// Feed reads the next decoded bytes of the string, which must be complete code points. It returns
// the result so far and the number of bytes after which it left Undecided (all of them if it did
// not), always at the end of a code point. The result does not depend on the chunks.
func (m *Matcher) Feed(s *condition.State, text []byte) (condition.Result, int) {
	if test, ok := m.text.(condition.StepTest); ok {
		return test.Feed(s, text)
	}
	return condition.Undecided, len(text)
}

// End returns Hit or Miss for a complete string. It requires an Incremental matcher; for others it
// fails closed.
func (m *Matcher) End(s *condition.State) condition.Result {
	test, ok := m.text.(condition.StepTest)
	if !ok {
		return m.strict()
	}
	if test.End(s) {
		return condition.Hit
	}
	return condition.Miss
}

// strict returns the result that cannot weaken a verdict.
func (m *Matcher) strict() condition.Result {
	if m.restrictive {
		return condition.Hit
	}
	return condition.Miss
}

// Judge evaluates a complete string as Match does, by forms that it shares with other matchers.
func (m *Matcher) Judge(v *condition.Value) bool {
	test, ok := m.text.(condition.ValueTest)
	if !ok || !v.Valid() || m.exceeds(v.Text()) {
		return m.Match(v.Text())
	}
	return test.Judge(v)
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
	return m.text.Match(value)
}

// Number evaluates a number (D25-24 to D25-27).
func (m *Matcher) Number(d jsonstream.Decimal) bool { return m.values.Number(d) }

// Bool evaluates a boolean (D25-29).
func (m *Matcher) Bool(b bool) bool { return m.values.Boolean(b) }

// Null reports whether null satisfies the condition: only for a const or enum that contains it.
func (m *Matcher) Null() bool { return m.values.IsNull }

// Canonical evaluates an object by its canonical text, see [jsonstream.AppendCanonical] (D25-20).
func (m *Matcher) Canonical(text []byte) bool { return m.values.Canonical(text) }

// Items evaluates the number of elements of an array (min_items, max_items).
func (m *Matcher) Items(n int) bool { return m.values.Items(n) }

// WantsPresent returns the value of a [Present] condition. Package eval evaluates it by counting
// branches (K5).
func (m *Matcher) WantsPresent() bool { return m.want }

// WantsValue reports whether a [condition.Present] condition requires a value that is not null.
func (m *Matcher) WantsValue() bool { return m.value }

// Test returns the test of strings, nil if no string satisfies the condition.
func (m *Matcher) Test() condition.TextTest { return m.text }

// Values returns the test of all other values.
func (m *Matcher) Values() *condition.Values { return m.values }

// Restrictive returns the polarity of the matcher.
func (m *Matcher) Restrictive() bool { return m.restrictive }

// Env returns the environment that the matcher was compiled in.
func (m *Matcher) Env() condition.Env { return *m.env }

// Written returns the literals of a condition on strings, as written.
func (m *Matcher) Written() []string { return m.written }
