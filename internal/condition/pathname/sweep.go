package pathname

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Swept describes which files below a directory are read.
type Swept struct {
	Hidden bool
	Names  []string // wildcards; none: all
}

// SweptTest evaluates directories that are read completely, as written; literal is set if the
// directory has no expansions.
type SweptTest interface {
	Sweeps(dir string, literal bool, which Swept) bool
}

var (
	_ SweptTest = (*Test)(nil)
	_ SweptTest = Either{}
	_ SweptTest = (*Pattern)(nil)
	_ SweptTest = (*OutsideTest)(nil)
)

func (t Either) Sweeps(dir string, literal bool, which Swept) bool {
	return t[0].Sweeps(dir, literal, which) || t[1].Sweeps(dir, literal, which)
}

func (t *Test) Sweeps(dir string, literal bool, which Swept) bool {
	return t.Context.AnyBelow(dir, literal, func(r pathform.Reading) bool {
		return t.known.ask(about(r.Path, r.Glob, which), func() bool { return t.below(r.Path, r.Glob, which) })
	})
}

// Sweeps evaluates the directory without the root, since a pattern matches anywhere in a path and
// also sees relative paths below the root.
func (t *Pattern) Sweeps(dir string, literal bool, which Swept) bool {
	p, ok := t.Test.(plaintext.Patterns)
	if !ok {
		return true
	}
	return t.Context.AnyBelow(dir, literal, func(r pathform.Reading) bool {
		found := regular.Intersect(p.Language(), regular.FromNFA(underneath(r.Path, r.Glob, which)))
		return found.Empty(regular.DefaultBudget) != regular.Yes || strings.HasPrefix(r.Path, "/")
	})
}

// below reports whether some path below a directory satisfies the test.
func (t *Test) below(dir string, glob bool, which Swept) bool {
	a := t.automaton()
	dfa := a.language.DFA()
	if dfa == nil {
		return true
	}
	under := underneath(dir, glob, which)
	if dfa.Meets(dfa.First(), under) {
		return true
	}
	root := t.Env.Root
	switch {
	case root == "":
		return false
	case !strings.HasPrefix(dir, "/"):
		return dfa.Meets(a.inRoot, under)
	}
	if rel, inside := pathform.InsideRoot(dir, root); inside {
		return t.below(rel, glob, which)
	}
	// The root is below the directories above it.
	_, above := pathform.CutRoot([]byte(spelling.Fold(root)), []byte(spelling.Fold(dir)))
	return glob || above && t.below("", false, which)
}

// underneath returns the set of folded paths of files below a canonical directory.
func underneath(dir string, pattern bool, which Swept) *automaton.NFA {
	n := automaton.New()
	at := 0
	switch {
	case dir == "/":
		at = n.Text(at, "/")
	case pattern:
		at = n.Text(pathform.AddValuePattern(n, dir, true), "/")
	case dir != "":
		at = n.Text(at, spelling.Fold(dir)+"/")
	}
	first := glob.Component
	if !which.Hidden {
		first = first.Minus(automaton.Single('.'))
	}
	name := n.State()
	n.Edge(at, first, name)
	n.Edge(name, glob.Component, name)
	n.Edge(name, automaton.Single('/'), at)
	for _, text := range which.Names {
		if which.Hidden {
			n.Accept(pathform.AddComponentPattern(n, at, spelling.Fold(text)))
		} else {
			n.Accept(pathform.AddVisiblePattern(n, at, spelling.Fold(text)))
		}
	}
	if len(which.Names) == 0 {
		n.Accept(name)
	}
	return n.Direct()
}
