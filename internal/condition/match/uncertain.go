package match

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
)

// MayBeUnknown reports whether Unknown can be non-zero for any value.
func (m *Matcher) MayBeUnknown() bool {
	t, ok := m.text.(interface{ MayBeUnknown() bool })
	return ok && t.MayBeUnknown()
}

// Unknown returns the unknown facts of the paths that a restrictive condition evaluates. The
// condition is evaluated for the known readings; the rest requires an approval.
func (m *Matcher) Unknown(v *Value) pathform.Unknown {
	if !m.MayBeUnknown() {
		return pathform.Known
	}
	if !v.Valid() {
		return pathform.UnknownReading
	}
	if m.exceeds(v.Text()) {
		return pathform.Known // the condition holds; see [Matcher.Exceeds]
	}
	switch t := m.text.(type) {
	case pathname.UnknownPath:
		return t.Unknown(v.AsPath())
	case commandline.UnknownLine:
		return t.Unknown(v.AsLine())
	}
	return pathform.Known
}

// ReadsLike reports whether two matchers have the same unknown facts for every value.
func (m *Matcher) ReadsLike(other *Matcher) bool {
	t, ok := m.text.(interface{ ReadsAs(condition.TextTest) bool })
	return ok && t.ReadsAs(other.text)
}
