package match

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
)

// LooksAtOrigins reports whether the condition is one on the origin of values: [Matcher.Origin]
// evaluates every value then, also numbers and booleans.
func (m *Matcher) LooksAtOrigins() bool { return m.origin != nil }

// Origin evaluates where a complete value of a type comes from: the text of a string, or the JSON
// text of a number or a boolean.
func (m *Matcher) Origin(v *condition.Value, t schema.Type) condition.Origin {
	if m.origin == nil || !v.Valid() || m.exceeds(v.Text()) {
		return condition.Origin{Holds: m.restrictive}
	}
	return m.origin.Origin(v, t)
}

// FirstText returns the first text of any source that has a value.
func (m *Matcher) FirstText(v *condition.Value, t schema.Type) flow.Ref {
	if m.origin == nil || !v.Valid() || m.exceeds(v.Text()) {
		return flow.Ref{}
	}
	return m.origin.First(v, t)
}

// Sources returns the sources that the condition names, and whether values must be from none of
// them.
func (m *Matcher) Sources() (sources []flow.Source, not bool) {
	if m.origin == nil {
		return nil, false
	}
	return m.origin.Query()
}
