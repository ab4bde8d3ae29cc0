package pathname

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// Group finds, among many conditions on paths, those that a value satisfies: the value is read
// once, literals are looked up, and patterns, globs and suffixes run as two automata, which are
// built on demand. The results equal those of the conditions one by one.
type Group struct {
	context  pathform.Context
	all      []int32
	literals pathLiterals
	packed   packedGlobs
	globs    languages // all others, and suffixes
	patterns languages
}

// NewGroup returns an empty group of conditions with one polarity and one environment, on
// parameters that are not expanded.
func NewGroup(env condition.Env, restrictive bool) *Group {
	return &Group{context: pathform.NewContext(env, false, restrictive)}
}

// Add adds a condition under a number: its kind, its literals and its test. It returns false if
// the group does not support the condition.
func (g *Group) Add(k condition.Kind, literals []string, test condition.TextTest, member int32) bool {
	switch test := test.(type) {
	case *Pattern:
		if test.Expands {
			return false
		}
		g.patterns.addPattern(test.Test.(plaintext.Patterns).Language(), member)
	case *Test:
		switch {
		case test.Expands:
			return false
		case k == condition.Glob && Packs(literals):
			g.AddGlobs(literals, member)
			return true
		case k == condition.Glob || k == condition.Suffix:
			g.globs.addGlob(test.PathStates, member)
		default:
			return g.AddTexts(literals, k == condition.Prefix, member)
		}
	default:
		return false
	}
	g.all = append(g.all, member)
	return true
}

// AddTexts adds a condition that compares with texts, in or below which a path is. It returns false,
// without adding it, if the group does not support one of them.
func (g *Group) AddTexts(texts []string, below bool, member int32) bool {
	if !g.literals.add(&g.context, texts, below, member) {
		return false
	}
	g.all = append(g.all, member)
	return true
}

// AddGlobs adds a condition with globs that the group can find by their beginnings; see [Packs]. They
// are compiled when a path begins like them.
func (g *Group) AddGlobs(globs []string, member int32) {
	for _, text := range globs {
		g.packed.add(text, g.context.Restrictive, member)
	}
	g.all = append(g.all, member)
}

// Build completes the group.
func (g *Group) Build() {
	g.literals.build()
	g.packed.build()
}

// Empty reports whether the group has no condition.
func (g *Group) Empty() bool { return len(g.all) == 0 }

// Has reports whether the group has a condition.
func (g *Group) Has(member int32) bool {
	_, found := slices.BinarySearch(g.all, member)
	return found
}

// Find appends the conditions that a complete string satisfies, in no order, possibly repeated.
// limited are the conditions that the string satisfies because it is too long for its readings to
// be listed; found may contain them too.
func (g *Group) Find(value *condition.Value, members []int32) (found, limited []int32) {
	v := pathform.Of(value)
	if !v.Valid() {
		return g.strict(members), nil
	}
	patterns := len(g.patterns.members) > 0
	if patterns && g.context.Restrictive {
		members = g.patterns.find(members, v.Text())
	}
	if canonical, certain := v.Certain(&g.context); certain {
		if patterns {
			rel, ok := pathform.CutRoot(canonical, []byte(g.context.Env.Root))
			if !ok {
				rel = canonical
			}
			members = g.pattern(rel, v, &v.Info, members)
		}
		if g.context.Folded && (v.Info.High || v.Info.Upper) {
			return g.suspected(canonical, v, &v.Info, members), nil
		}
		return g.inside(canonical, members), nil
	}
	if !g.context.Restrictive {
		return members, nil
	}
	list, unknown := v.Readings(&g.context)
	if unknown&condition.TooLong != 0 {
		limited = g.all
	}
	unexamined := pathform.Lexical{High: true, Upper: true}
	for _, r := range list {
		if patterns {
			members = g.pattern([]byte(r.Path), v, &unexamined, members)
		}
		members = g.suspected([]byte(r.Path), v, &unexamined, members)
	}
	return members, limited
}

// strict appends the conditions that hold for an unknown value.
func (g *Group) strict(members []int32) []int32 {
	if g.context.Restrictive {
		return append(members, g.all...)
	}
	return members
}

// pattern finds the patterns that match one reading, with and without regard to case for
// restrictive conditions (K20).
func (g *Group) pattern(path []byte, v *pathform.Value, info *pathform.Lexical, members []int32) []int32 {
	if !g.context.Restrictive {
		return g.patterns.find(members, path)
	}
	if string(path) != string(v.Text()) { // already evaluated
		members = g.patterns.find(members, path)
	}
	switch {
	case info.High:
		if folded := spelling.Fold(string(path)); folded != string(path) {
			members = g.patterns.find(members, []byte(folded))
		}
	case info.Upper:
		members = g.patterns.find(members, v.Lowered(path))
	}
	return members
}

// suspected finds the literals and globs that match one canonical path or its folded form, which
// differs if it has capital letters or code points above ASCII.
func (g *Group) suspected(path []byte, v *pathform.Value, info *pathform.Lexical, members []int32) []int32 {
	if info.High {
		if folded := spelling.Fold(string(path)); folded != string(path) {
			members = g.inside([]byte(folded), members)
		}
	}
	return g.inside(v.Lowered(path), members)
}

// inside is [Test.inside] for all literals and globs.
func (g *Group) inside(path []byte, members []int32) []int32 {
	if len(path) == 0 || path[0] != '/' {
		return g.below(path, members)
	}
	if rel, ok := g.context.CutRoot(path); ok && g.context.Env.Root != "" {
		return g.below(rel, members)
	}
	if !g.literals.empty {
		members = g.literals.outside(path, members)
	}
	if len(g.packed.list) > 0 {
		members = g.packedOutside(path, members)
	}
	if len(g.globs.members) > 0 {
		members = g.globs.find(members, path)
	}
	return members
}

// below is inside for a path that begins at the root.
func (g *Group) below(rel []byte, members []int32) []int32 {
	if !g.literals.empty {
		members = g.literals.below(rel, members)
	}
	if len(g.packed.list) > 0 {
		members = g.packedBelow(rel, members)
	}
	if len(g.globs.members) > 0 {
		members = g.among(&g.globs, rel, members)
	}
	return members
}

// among finds the globs that match a path which begins at the root.
func (g *Group) among(globs *languages, rel []byte, members []int32) []int32 {
	members = globs.find(members, rel)
	if g.context.Env.Root != "" && !Climbs(rel) {
		members = globs.findBelow(members, g.context.Mark, rel)
	}
	return members
}

// Climbs reports whether a canonical path leaves the directory it starts from.
func Climbs(rel []byte) bool {
	return len(rel) >= 2 && rel[0] == '.' && rel[1] == '.' && (len(rel) == 2 || rel[2] == '/')
}
