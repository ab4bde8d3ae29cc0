package pathname

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// pathLiterals are the conditions of a group that compare with literals.
type pathLiterals struct {
	empty    bool
	relative pathSet // paths below the root, including literals that name them absolutely
	absolute pathSet // of all others
	// Where a relative literal may be for restrictive conditions if the root is unknown (K19).
	anywhere bool
	above    []int32 // literals for a directory above the root, or the root: they match everything below
	root     []int32 // literals for the root itself
}

// pathSet is a set of literals: a list, and after Build an index.
type pathSet struct {
	entries []literal.Entry
	*literal.Paths
}

func (s *pathSet) add(text string, below bool, member int32) {
	s.entries = append(s.entries, literal.Entry{Text: text, Prefix: below, Member: member})
}

func (s *pathSet) build() { s.Paths, s.entries = literal.NewPaths(s.entries), nil }

// add adds a condition. It returns false, without adding it, if no look-up finds one of its
// literals.
func (l *pathLiterals) add(p *pathform.Context, texts []string, below bool, member int32) bool {
	for _, text := range texts {
		if text == ".." || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "~/") {
			return false
		}
	}
	l.anywhere = p.Restrictive && p.Env.Root == ""
	for _, text := range texts {
		l.addText(p, strings.TrimSuffix(text, "/"), below, member)
	}
	return true
}

func (l *pathLiterals) addText(p *pathform.Context, text string, below bool, member int32) {
	root := p.Env.Root
	if p.Restrictive {
		text, root = spelling.Fold(text), spelling.Fold(root)
	}
	switch {
	case text == "":
		text = "/"
		fallthrough
	case text[0] == '/':
		if rel, inside := pathform.CutRoot([]byte(text), []byte(root)); inside && len(rel) > 0 {
			l.relative.add(string(rel), below, member)
			return
		}
		_, above := pathform.CutRoot([]byte(root), []byte(text))
		switch {
		case root == text && !below:
			l.root = append(l.root, member)
			return // paths below the root are relative; no other one is the root
		case root != "" && above && below:
			l.above = append(l.above, member)
		}
		l.absolute.add(text, below, member)
	default:
		l.relative.add(text, below, member)
	}
}

func (l *pathLiterals) build() {
	l.empty = len(l.relative.entries)+len(l.absolute.entries)+len(l.root) == 0
	l.relative.build()
	l.absolute.build()
}

// below finds the conditions that a canonical path relative to the root satisfies.
func (l *pathLiterals) below(rel []byte, members []int32) []int32 {
	if members = l.relative.Find(rel, members); len(l.above)+len(l.root) > 0 && !Climbs(rel) {
		if members = append(members, l.above...); len(rel) == 0 {
			members = append(members, l.root...)
		}
	}
	return members
}

// outside finds the conditions that an absolute path outside of the root satisfies.
func (l *pathLiterals) outside(path []byte, members []int32) []int32 {
	members = l.absolute.Find(path, members)
	if !l.anywhere || l.relative.Len() == 0 {
		return members
	}
	for i, c := range path {
		if c == '/' {
			members = l.relative.Find(path[i+1:], members)
		}
	}
	return members
}
