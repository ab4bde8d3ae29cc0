package match

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// PathGroup finds, among many conditions on paths, those that a value satisfies: the value is read
// once, literals are looked up, and patterns, globs and suffixes run as two automata, which are
// built on demand. The results equal those of [Matcher.Judge].
type PathGroup struct {
	context  pathContext
	all      []int32
	literals pathLiterals
	globs    languages // includes suffixes
	patterns languages
}

// NewPathGroup returns an empty group of conditions with one polarity and one
// environment, on parameters that are not expanded.
func NewPathGroup(env condition.Env, restrictive bool) *PathGroup {
	return &PathGroup{context: newPathContext(env, false, restrictive)}
}

// Add adds a condition under a number. It returns false, and adds nothing, if the group does not
// support the condition.
func (g *PathGroup) Add(m *Matcher, member int32) bool {
	switch test := m.text.(type) {
	case *pathPattern:
		if test.expands {
			return false
		}
		g.patterns.addPattern(test.test.(patterns).language(), member)
	case *pathTest:
		switch {
		case test.expands:
			return false
		case m.kind == condition.Glob || m.kind == condition.Suffix:
			g.globs.addGlob(test.pathStates, member)
		case !g.literals.add(&g.context, m, member):
			return false
		}
	default:
		return false
	}
	g.all = append(g.all, member)
	return true
}

// Build completes the group.
func (g *PathGroup) Build() {
	g.literals.build()
}

// Empty reports whether the group has no condition.
func (g *PathGroup) Empty() bool { return len(g.all) == 0 }

// Has reports whether the group has a condition.
func (g *PathGroup) Has(member int32) bool {
	_, found := slices.BinarySearch(g.all, member)
	return found
}

// Find appends the conditions that a complete string satisfies, in no order, possibly repeated.
// limited are the conditions that the string satisfies because it is too long for its readings to
// be listed; found may contain them too.
func (g *PathGroup) Find(v *Value, members []int32) (found, limited []int32) {
	if !v.valid {
		return g.strict(members), nil
	}
	patterns := len(g.patterns.members) > 0
	if patterns && g.context.restrictive {
		members = g.patterns.find(members, v.text)
	}
	if canonical, certain := v.certain(&g.context); certain {
		if patterns {
			rel, ok := cutRoot(canonical, []byte(g.context.env.Root))
			if !ok {
				rel = canonical
			}
			members = g.pattern(rel, v, &v.info, members)
		}
		if g.context.folded && (v.info.high || v.info.upper) {
			return g.suspected(canonical, v, &v.info, members), nil
		}
		return g.inside(canonical, members), nil
	}
	if !g.context.restrictive {
		return members, nil
	}
	list, unknown := v.readings(&g.context)
	if unknown&tooLong != 0 {
		limited = g.all
	}
	unexamined := lexical{high: true, upper: true}
	for _, r := range list {
		if patterns {
			members = g.pattern([]byte(r.Path), v, &unexamined, members)
		}
		members = g.suspected([]byte(r.Path), v, &unexamined, members)
	}
	return members, limited
}

// strict appends the conditions that hold when nothing is known about the value.
func (g *PathGroup) strict(members []int32) []int32 {
	if g.context.restrictive {
		return append(members, g.all...)
	}
	return members
}

// pattern finds the patterns that match one reading, with and without regard to case for
// restrictive conditions (K20).
func (g *PathGroup) pattern(path []byte, v *Value, info *lexical, members []int32) []int32 {
	if !g.context.restrictive {
		return g.patterns.find(members, path)
	}
	if string(path) != string(v.text) { // already evaluated
		members = g.patterns.find(members, path)
	}
	switch {
	case info.high:
		if folded := spelling.Fold(string(path)); folded != string(path) {
			members = g.patterns.find(members, []byte(folded))
		}
	case info.upper:
		members = g.patterns.find(members, v.lowered(path))
	}
	return members
}

// suspected finds the literals and globs that match one canonical path or its folded form, which
// differs if it has capital letters or code points above ASCII.
func (g *PathGroup) suspected(path []byte, v *Value, info *lexical, members []int32) []int32 {
	if info.high {
		if folded := spelling.Fold(string(path)); folded != string(path) {
			members = g.inside([]byte(folded), members)
		}
	}
	return g.inside(v.lowered(path), members)
}

// inside is pathTest.inside for all literals and globs.
func (g *PathGroup) inside(path []byte, members []int32) []int32 {
	if len(path) == 0 || path[0] != '/' {
		return g.below(path, members)
	}
	if rel, ok := g.context.cutRoot(path); ok && g.context.env.Root != "" {
		return g.below(rel, members)
	}
	if !g.literals.empty {
		members = g.literals.outside(path, members)
	}
	if len(g.globs.members) > 0 {
		members = g.globs.find(members, path)
	}
	return members
}

// below is inside for a path that begins at the root.
func (g *PathGroup) below(rel []byte, members []int32) []int32 {
	if !g.literals.empty {
		members = g.literals.below(rel, members)
	}
	if len(g.globs.members) == 0 {
		return members
	}
	members = g.globs.find(members, rel)
	if g.context.env.Root != "" && !climbs(rel) {
		members = g.globs.findBelow(members, g.context.mark, rel)
	}
	return members
}

// climbs reports whether a canonical path leaves the directory it starts from.
func climbs(rel []byte) bool {
	return len(rel) >= 2 && rel[0] == '.' && rel[1] == '.' && (len(rel) == 2 || rel[2] == '/')
}
