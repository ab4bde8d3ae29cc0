package match

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// ancestors are the directories above the paths that the literals of a condition name. Renaming one
// of them moves the paths below it out of the condition:
//
//	conf/secrets/**   the root and all directories above it, conf, conf/secrets
//	**/.config/gh/x   **/.config, **/.config/gh
//	**/.env           none: the condition matches such a file wherever it is moved
type ancestors []*pathTest

// ancestorsOf returns the ancestors of checked literals. A pattern has none; see
// [pathPattern.loses].
func ancestorsOf(s condition.Spec, env condition.Env) ancestors {
	var literals []pathLiteral
	for _, lit := range s.Values {
		list, err := readPath(s.Kind, lit.Text, true)
		if err == nil {
			literals = append(literals, list...)
		}
	}
	list := ancestors{ancestorTest(literals, env, true)}
	if slices.ContainsFunc(literals, func(l pathLiteral) bool { return l.negates }) { // see compilePath
		list = append(list, ancestorTest(literals, env, false))
	}
	return list
}

func ancestorTest(literals []pathLiteral, env condition.Env, folded bool) *pathTest {
	p := newPathContext(env, true, true)
	p.folded = folded
	b := pathBuilder{NFA: automaton.New(), env: p.env, restrictive: true, folded: folded, suspects: true}
	for _, lit := range literals {
		b.addAncestors(lit)
	}
	return &pathTest{pathContext: p, pathStates: newSinglePart(func() *automaton.NFA { return b.NFA })}
}

// hold reports whether a path may name one of the directories. literal is set if nothing in the
// path is expanded.
func (a ancestors) hold(dir []byte, literal bool) bool {
	var v Value
	v.Reset(dir)
	for _, t := range a {
		p := t.pathContext
		p.expands = !literal
		if t.judgeFrom(&v, &p) {
			return true
		}
	}
	return false
}

// addAncestors adds the directories above a literal.
func (b *pathBuilder) addAncestors(lit pathLiteral) {
	for i := range lit.suffix {
		if i > 0 && lit.suffix[i] == '/' {
			b.addSuffix(lit.suffix[:i])
		}
	}
	anchored := len(lit.components) > 0 && !isDoubleStar(lit.components[0])
	switch {
	case lit.home:
		b.Accept(b.Text(0, "~"))
		b.addWay(b.env.Home)
	case lit.absolute:
		b.addWay("/")
	case anchored:
		b.Accept(0)
		b.addWay(b.env.Root)
		if b.env.Root == "" {
			b.Accept(b.Text(0, ".."))
			b.Accept(b.Loop(b.Text(0, "../"), automaton.Any))
		}
	}
	for k := 1; k < len(lit.components); k++ {
		if part := lit.components[:k]; slices.ContainsFunc(part, func(c []glob.Token) bool { return !isDoubleStar(c) }) {
			b.addLiteral(pathLiteral{absolute: lit.absolute, home: lit.home, components: slices.Clip(part)})
		}
	}
}

// addWay adds an absolute path and the directories above it.
func (b *pathBuilder) addWay(path string) {
	if path == "" {
		return
	}
	b.Accept(b.absolute())
	names := splitLiteral(path).components
	for k := range names {
		b.addComponents(b.absolute(), names[:k+1], false)
	}
}

// elsewhere is a directory that no pattern matches.
const elsewhere = "\ue000"

// loses reports whether a pattern matches some path below a directory but not in another directory.
// A pattern that matches anywhere in a path follows the file.
func (t *pathPattern) loses(dir string, literal bool) bool {
	list, ok := t.test.(patterns)
	if !ok {
		return true
	}
	for _, p := range list {
		language := patterns{p}.language()
		meets := func(dir string, glob bool) regular.Answer {
			return regular.Intersect(language, regular.FromNFA(underneath(dir, glob, swept{hidden: true}))).Empty(regular.DefaultBudget)
		}
		if meets(elsewhere, false) == regular.No {
			continue
		}
		if t.pathContext.anyBelow(dir, literal, func(r Reading) bool {
			rel, inside := insideRoot(r.Path, t.env.Root)
			return meets(r.Path, r.Glob) != regular.Yes || inside && (rel == "" || meets(rel, r.Glob) != regular.Yes) || strings.HasPrefix(t.env.Root+"/", strings.TrimSuffix(r.Path, "/")+"/")
		}) {
			return true
		}
	}
	return false
}
