package eval

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// GroupTest is a compiled condition on the groups of a principal: names and globs of which one must
// match one of the groups. The zero GroupTest never holds. It is safe for concurrent use.
type GroupTest struct {
	names []string
	globs []*glob.Name
}

// NewGroupTest compiles names and globs that a file was parsed with.
func NewGroupTest(globs []string) (t GroupTest) {
	for _, text := range globs {
		name, err := glob.ParseName(text)
		if err != nil {
			continue // Parse has rejected it
		}
		if exact, is := name.LiteralPrefix(); is {
			t.names = append(t.names, exact)
		} else {
			t.globs = append(t.globs, name)
		}
	}
	return t
}

// Holds reports whether one of the groups matches. The result for groups that are not known is
// unknown.
func (t GroupTest) Holds(groups stopgate.Groups) (holds, known bool) {
	if slices.ContainsFunc(t.names, groups.Contains) {
		return true, true
	}
	if len(t.globs) > 0 {
		for group := range groups.All() {
			if slices.ContainsFunc(t.globs, func(n *glob.Name) bool { return n.Match(group) }) {
				return true, true
			}
		}
	}
	return false, groups.Known()
}

// groupTest is one condition of a file on groups, in rules of one polarity.
type groupTest struct {
	key        string
	permissive bool
	test       GroupTest
}

// LooksAtGroups reports whether a rule or a session policy on texts has a condition on groups.
func (p *Policies) LooksAtGroups() bool { return p.looksAtGroups }

// readGroups compiles the conditions of all files on groups, each once for each polarity.
func (p *Policies) readGroups() {
	known := make(map[string]bool)
	for _, l := range p.layers {
		for r := range l.File.Rules() {
			if w := r.When; w != nil && len(w.Group) > 0 && !known[w.GroupKey] {
				known[w.GroupKey] = true
				p.groups = append(p.groups, groupTest{w.GroupKey, r.Mode.Permissive(), NewGroupTest(w.Group)})
			}
		}
	}
	slices.SortFunc(p.groups, func(a, b groupTest) int { return strings.Compare(a.key, b.key) })
	p.looksAtGroups = len(p.groups) > 0 || slices.ContainsFunc(p.flows, func(f *Flow) bool {
		return slices.ContainsFunc(f.Policy.Callers, func(c syntax.Callers) bool { return len(c.Group) > 0 })
	})
}

// groupSituation appends the keys of the conditions on groups that differ from unknown ones.
func (p *Policies) groupSituation(settled []byte, groups stopgate.Groups) []byte {
	if !groups.Known() {
		return settled
	}
	for _, t := range p.groups {
		if holds, _ := t.test.Holds(groups); holds == t.permissive {
			settled = append(append(settled, t.key...), ' ')
		}
	}
	return settled
}

// CallersTest is the compiled part of a `when` of a session policy that is about who calls.
type CallersTest struct {
	principal, group []string
	groups           GroupTest
}

// NewCallersTest compiles a condition that a file was parsed with.
func NewCallersTest(c syntax.Callers) CallersTest {
	return CallersTest{c.Principal, c.Group, NewGroupTest(c.Group)}
}

// Applies reports whether the condition holds, or may: groups that are not known may be any.
func (t CallersTest) Applies(principal stopgate.Principal, groups stopgate.Groups) bool {
	return t.names(principal) && t.mayBeIn(groups)
}

func (t CallersTest) names(principal stopgate.Principal) bool {
	return len(t.principal) == 0 || syntax.MatchesAny(t.principal, string(principal))
}

func (t CallersTest) mayBeIn(groups stopgate.Groups) bool {
	if len(t.group) == 0 {
		return true
	}
	holds, known := t.groups.Holds(groups)
	return holds || !known
}
