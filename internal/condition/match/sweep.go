package match

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Sweeps reports whether a guard on paths could match a file that a command line reads without
// naming it, in a directory that it reads completely, or could stop matching one in a directory
// that it renames. The disk is not consulted: it is enough that there may be such a file. Matches
// of wildcards count too, also if complete directories do not.
func (m *Matcher) Sweeps(v *Value) bool {
	t, ok := m.text.(*commandPaths)
	if !ok || !t.restrictive || !v.valid || len(v.text) > Budget {
		return false
	}
	for _, l := range []*shell.Line{v.line(), v.otherLine()} {
		hit := false
		if l != nil {
			l.Sweeps(func(s *shell.Sweep) bool {
				hit = (t.below || (s.Files || s.Given) && t.use&shell.Reads != 0) && (s.Given && !t.base.plainNames(v, t.links, s) || !s.Counts && t.reaches(s) && !t.clear(v, s))
				return !hit
			})
		}
		if hit {
			return true
		}
	}
	return false
}

// JudgesSweeps reports whether Sweeps can be true for any value.
func (m *Matcher) JudgesSweeps() bool {
	t, ok := m.text.(*commandPaths)
	return ok && t.restrictive
}

// reaches reports whether the test could match a swept file.
func (t *commandPaths) reaches(s *shell.Sweep) bool {
	test, ok := t.path.(sweptTest)
	if !ok {
		return true
	}
	if _, outside := t.path.(*outsideTest); outside && s.Renames {
		return false // its words name the target
	}
	if p, pattern := t.path.(*pathPattern); s.Renames && !s.Anywhere && (!pattern || s.Single) {
		if pattern {
			return p.loses(string(s.Dir.Text), s.Dir.Literal)
		}
		return t.above().hold(s.Dir.Text, s.Dir.Literal)
	}
	dir, certain := t.base.from(s.Dir.Text, s.Moved, s.Into, s.Sure)
	if s.Files {
		return !certain || t.spread.Match(dir)
	}
	which := swept{s.Hidden, s.Names}
	return s.Anywhere || !certain || test.sweeps(string(dir), s.Dir.Literal, which) ||
		s.Repository && t.base.deeper() && test.sweeps(t.base.root, true, which)
}

// swept describes which files below a directory are read.
type swept struct {
	hidden bool
	names  []string // wildcards; none: all
}

// sweptTest evaluates directories that are read completely, as written; literal is set if nothing
// in the directory is expanded.
type sweptTest interface {
	sweeps(dir string, literal bool, which swept) bool
}

var (
	_ sweptTest = (*pathTest)(nil)
	_ sweptTest = eitherPath{}
	_ sweptTest = (*pathPattern)(nil)
	_ sweptTest = (*outsideTest)(nil)
)

func (t eitherPath) sweeps(dir string, literal bool, which swept) bool {
	return t[0].sweeps(dir, literal, which) || t[1].sweeps(dir, literal, which)
}

func (t *pathTest) sweeps(dir string, literal bool, which swept) bool {
	return t.pathContext.anyBelow(dir, literal, func(r Reading) bool { return t.below(r.Path, r.Glob, which) })
}

// sweeps evaluates the directory without the root, since a pattern matches anywhere in a path and
// also sees relative paths below the root.
func (t *pathPattern) sweeps(dir string, literal bool, which swept) bool {
	p, ok := t.test.(patterns)
	if !ok {
		return true
	}
	return t.pathContext.anyBelow(dir, literal, func(r Reading) bool {
		found := regular.Intersect(p.language(), regular.FromNFA(underneath(r.Path, r.Glob, which)))
		return found.Empty(regular.DefaultBudget) != regular.Yes || strings.HasPrefix(r.Path, "/")
	})
}

// anyBelow reports whether below returns true for a reading of a directory.
func (p *pathContext) anyBelow(dir string, literal bool, below func(r Reading) bool) bool {
	relative := dir == "" || dir[0] != '/' && dir[0] != '~'
	if relative && p.env.Lost {
		return true
	}
	if relative && p.env.Also != "" && p.anyBelow(p.env.Also+"/"+dir, literal, below) {
		return true
	}
	switch {
	case relative && p.env.Dir != "":
		dir = p.env.Dir + "/" + dir
	case dir == "":
		return below(Reading{})
	}
	list, complete := Readings(dir, p.env, !literal)
	for _, r := range list {
		if strings.HasPrefix(r.Path, "..") || below(r) {
			return true
		}
	}
	return !complete
}

// below reports whether some path below a directory satisfies the test.
func (t *pathTest) below(dir string, glob bool, which swept) bool {
	a := t.automaton()
	dfa := a.language.DFA()
	if dfa == nil {
		return true
	}
	under := underneath(dir, glob, which)
	if dfa.Meets(dfa.First(), under) {
		return true
	}
	root := t.env.Root
	switch {
	case root == "":
		return false
	case !strings.HasPrefix(dir, "/"):
		return dfa.Meets(a.inRoot, under)
	}
	if rel, inside := insideRoot(dir, root); inside {
		return t.below(rel, glob, which)
	}
	// The root is below the directories above it.
	_, above := cutRoot([]byte(spelling.Fold(root)), []byte(spelling.Fold(dir)))
	return glob || above && t.below("", false, which)
}

// underneath returns the set of folded paths of files below a canonical directory.
func underneath(dir string, pattern bool, which swept) *automaton.NFA {
	n := automaton.New()
	at := 0
	switch {
	case dir == "/":
		at = n.Text(at, "/")
	case pattern:
		at = n.Text(addValuePattern(n, dir, true), "/")
	case dir != "":
		at = n.Text(at, spelling.Fold(dir)+"/")
	}
	first := glob.Component
	if !which.hidden {
		first = first.Minus(automaton.Single('.'))
	}
	name := n.State()
	n.Edge(at, first, name)
	n.Edge(name, glob.Component, name)
	n.Edge(name, automaton.Single('/'), at)
	for _, text := range which.names {
		if which.hidden {
			n.Accept(addComponentPattern(n, at, spelling.Fold(text)))
		} else {
			n.Accept(addVisiblePattern(n, at, spelling.Fold(text)))
		}
	}
	if len(which.names) == 0 {
		n.Accept(name)
	}
	return n.Direct()
}
