package match

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/eval/schema"
)

// Exceeds reports whether the length of a string decided the condition instead of its content: the
// command line or the patch is longer than [condition.Budget], or the path has readings that are too long to
// list, and none of the others satisfies the restrictive condition. The verdict's code is then
// matcher_budget.
func (m *Matcher) Exceeds(v *Value) bool {
	if !v.Valid() {
		return false
	}
	if m.exceeds(v.Text()) {
		return true
	}
	switch t := m.text.(type) {
	case pathname.BoundedPath:
		return t.ExceedsBy(v.AsPath())
	}
	return false
}

// exceeds reports whether a string is of a kind that is parsed, and too long for it.
func (m *Matcher) exceeds(text []byte) bool {
	if len(text) <= condition.Budget {
		return false
	}
	switch m.annotation {
	case schema.Command, schema.Patch:
		return true
	}
	return false
}
