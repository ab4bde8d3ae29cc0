package match

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Sweeps reports that a guard on paths could hold for a file that a command line reads
// without naming it, below a directory that it reads as a whole, or would no longer hold for
// it, below one that gets another name. Nobody looks at a disk:
// it is enough that there may be such a file. What a wildcard names counts too, also where
// whole directories do not.
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

// JudgesSweeps reports whether Sweeps may ever be true.
func (m *Matcher) JudgesSweeps() bool {
	t, ok := m.text.(*commandPaths)
	return ok && t.restrictive
}

// reaches reports that the test could hold for a file that is swept.
func (t *commandPaths) reaches(s *shell.Sweep) bool {
	test, ok := t.path.(sweptTest)
	if !ok {
		return true
	}
	if _, outside := t.path.(*outsideTest); outside && s.Renames {
		return false // its words say where it leads
	}
	if p, pattern := t.path.(*pathPattern); s.Renames && !s.Anywhere && (!pattern || s.Single) {
		if pattern {
			return p.loses(string(s.Dir.Text), s.Dir.Literal)
		}
		return t.above().hold(s.Dir.Text, s.Dir.Literal)
	}
	dir, certain := t.base.from(s.Dir.Text, s.Moved, s.Into, s.Sure)
	if s.Files {
		return !certain || t.spread.match(dir)
	}
	which := swept{s.Hidden, s.Names}
	return s.Anywhere || !certain || test.sweeps(string(dir), s.Dir.Literal, which) ||
		s.Repository && t.base.deeper() && test.sweeps(t.base.root, true, which)
}

// swept says which files below a directory are read.
type swept struct {
	hidden bool
	names  []string // wildcards; none: all
}

// sweptTest judges directories that are read as a whole, as they are written; literal
// says that nothing in it is expanded.
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
	return t.place.anyBelow(dir, literal, func(r Reading) bool { return t.below(r.Path, r.Glob, which) })
}

// sweeps: a pattern that is searched for anywhere in a path says little about where. It
// is asked without the root, below which it sees relative paths too.
func (t *pathPattern) sweeps(dir string, literal bool, which swept) bool {
	p, ok := t.test.(patterns)
	if !ok {
		return true
	}
	return t.place.anyBelow(dir, literal, func(r Reading) bool {
		found := regular.Intersect(p.language(), regular.FromNFA(underneath(r.Path, r.Glob, which)))
		return found.Empty(regular.DefaultBudget) != regular.Yes || strings.HasPrefix(r.Path, "/")
	})
}

// anyBelow asks about every reading of a directory.
func (p *place) anyBelow(dir string, literal bool, below func(r Reading) bool) bool {
	relative := dir == "" || dir[0] != '/' && dir[0] != '~'
	if relative && p.env.lost {
		return true
	}
	if relative && p.env.also != "" && p.anyBelow(p.env.also+"/"+dir, literal, below) {
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

// below reports that some path below a directory satisfies the test.
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
	// The root stands below what stands above it.
	_, above := cutRoot([]byte(fold(root)), []byte(fold(dir)))
	return glob || above && t.below("", false, which)
}

// underneath is the set of folded paths of files below a canonical directory.
func underneath(dir string, pattern bool, which swept) *automaton.NFA {
	n := automaton.New()
	at := 0
	switch {
	case dir == "/":
		at = n.Text(at, "/")
	case pattern:
		at = n.Text(addValuePattern(n, dir, true), "/")
	case dir != "":
		at = n.Text(at, fold(dir)+"/")
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
			n.Accept(addComponentPattern(n, at, fold(text)))
		} else {
			n.Accept(addVisiblePattern(n, at, fold(text)))
		}
	}
	if len(which.names) == 0 {
		n.Accept(name)
	}
	return n.Direct()
}
