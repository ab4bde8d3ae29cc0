package match

import (
	"bytes"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/policy/literal"
	"github.com/stopgate/stopgate/schema"
)

// Literals says what a condition compares strings with, for an index that asks many
// conditions at once. ok is false for what no literal says: globs, suffixes, patterns.
func (m *Matcher) Literals() (texts []string, prefix, ok bool) {
	switch m.kind {
	case Const, Enum:
		return m.written, false, true
	case Prefix:
		return m.written, true, true
	}
	return m.written, false, false
}

// Annotation returns the annotation of the target that the matcher was compiled for.
func (m *Matcher) Annotation() schema.Annotation { return m.annotation }

// StringForms are the forms in which a restrictive condition on a plain string reads
// it (K21).
func StringForms() *literal.Forms {
	return &literal.Forms{Hidden: zeroWidth.Contains, Blank: isWhite}
}

// PathGroup finds, among many conditions on paths that compare with literals, those
// that a value satisfies: one reading of the value and one look-up serve all of them.
// It answers as [Matcher.Judge] of each would.
type PathGroup struct {
	place    place
	relative pathSet // of paths below the root, literals that name them absolutely included
	absolute pathSet // of all others
	// Where a relative literal stands for suspicion if the root is unknown (K19).
	anywhere bool
	above    []int32 // what names a directory above the root, or the root: everything is below
	root     []int32 // what names the root alone
	all      []int32
}

// pathSet is literals, until they are built, or what finds them.
type pathSet struct {
	entries []literal.Entry
	*literal.Paths
}

func (s *pathSet) add(text string, below bool, member int32) {
	s.entries = append(s.entries, literal.Entry{Text: text, Prefix: below, Member: member})
}

func (s *pathSet) build(fold bool) { s.Paths, s.entries = literal.NewPaths(s.entries, fold), nil }

// NewPathGroup returns an empty group of conditions with one polarity and one
// environment, on parameters that are not expanded.
func NewPathGroup(env Env, restrictive bool) *PathGroup {
	g := &PathGroup{place: newPlace(env, false, restrictive)}
	g.anywhere = restrictive && g.place.env.Root == ""
	return g
}

// Add adds a condition under a number. It reports false, and adds nothing, if a
// literal of the condition stands where no look-up finds it.
func (g *PathGroup) Add(m *Matcher, member int32) bool {
	texts, below, ok := m.Literals()
	if test, path := m.text.(*pathTest); !ok || !path || test.expands {
		return false
	}
	for _, text := range texts {
		if text == ".." || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "~/") {
			return false
		}
	}
	for _, text := range texts {
		g.add(strings.TrimSuffix(text, "/"), below, member)
	}
	g.all = append(g.all, member)
	return true
}

func (g *PathGroup) add(text string, below bool, member int32) {
	root := g.place.env.Root
	if g.place.restrictive {
		text, root = fold(text), fold(root)
	}
	switch {
	case text == "":
		text = "/"
		fallthrough
	case text[0] == '/':
		if rel, inside := cutRoot([]byte(text), []byte(root)); inside && len(rel) > 0 {
			g.relative.add(string(rel), below, member)
			return
		}
		_, above := cutRoot([]byte(root), []byte(text))
		switch {
		case root == text && !below:
			g.root = append(g.root, member)
			return // a path below the root is made relative: no other one is the root
		case root != "" && above && below:
			g.above = append(g.above, member)
		}
		g.absolute.add(text, below, member)
	default:
		g.relative.add(text, below, member)
	}
}

// Build ends the adding.
func (g *PathGroup) Build() {
	g.relative.build(g.place.restrictive)
	g.absolute.build(g.place.restrictive)
}

// Empty reports whether the group has no condition.
func (g *PathGroup) Empty() bool { return len(g.all) == 0 }

// Has reports whether the group has a condition.
func (g *PathGroup) Has(member int32) bool {
	_, found := slices.BinarySearch(g.all, member)
	return found
}

// Find appends the conditions that a complete string satisfies, in no order; one may
// be repeated.
func (g *PathGroup) Find(v *Value, members []int32) []int32 {
	if !v.valid || len(v.text) > Budget {
		if g.place.restrictive {
			return append(members, g.all...)
		}
		return members
	}
	if canonical, certain := v.certain(&g.place); certain {
		return g.path(canonical, v.info.high, members)
	}
	if !g.place.restrictive {
		return members
	}
	list, complete := v.readings(&g.place)
	if !complete {
		return append(members, g.all...)
	}
	for _, r := range list {
		members = g.path([]byte(r.Path), true, members)
	}
	return members
}

// path finds the conditions that one canonical path satisfies.
func (g *PathGroup) path(canonical []byte, high bool, members []int32) []int32 {
	if g.place.folded && high {
		if folded := fold(string(canonical)); folded != string(canonical) {
			members = g.inside([]byte(folded), members)
		}
	}
	return g.inside(canonical, members)
}

// inside is pathTest.inside for all conditions.
func (g *PathGroup) inside(path []byte, members []int32) []int32 {
	if len(path) > 0 && path[0] == '/' {
		rel, inside := g.place.cutRoot(path)
		if !inside || g.place.env.Root == "" {
			return g.outside(path, members)
		}
		path = rel
	}
	members = g.relative.Find(path, members)
	if g.place.env.Root == "" || bytes.HasPrefix(path, []byte("../")) || string(path) == ".." {
		return members
	}
	if members = append(members, g.above...); len(path) == 0 {
		members = append(members, g.root...)
	}
	return members
}

// outside finds the conditions that an absolute path satisfies which is not below the
// root.
func (g *PathGroup) outside(path []byte, members []int32) []int32 {
	members = g.absolute.Find(path, members)
	if !g.anywhere || g.relative.Len() == 0 {
		return members
	}
	for i, c := range path {
		if c == '/' {
			members = g.relative.Find(path[i+1:], members)
		}
	}
	return members
}
