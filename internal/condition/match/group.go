package match

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathname"
)

// PathGroup finds, among many conditions on paths, those that a value satisfies. The results equal
// those of [Matcher.Judge].
type PathGroup struct{ *pathname.Group }

// NewPathGroup returns an empty group of conditions with one polarity and one
// environment, on parameters that are not expanded.
func NewPathGroup(env condition.Env, restrictive bool) *PathGroup {
	return &PathGroup{pathname.NewGroup(env, restrictive)}
}

// Add adds a condition under a number. It returns false, and adds nothing, if the group does not
// support the condition.
func (g *PathGroup) Add(m *Matcher, member int32) bool {
	return g.Group.Add(m.kind, m.written, m.text, member)
}

// Find appends the conditions that a complete string satisfies, in no order, possibly repeated.
// limited are the conditions that the string satisfies because it is too long for its readings to
// be listed; found may contain them too.
func (g *PathGroup) Find(v *Value, members []int32) (found, limited []int32) {
	return g.Group.Find(v.AsPath(), members)
}
