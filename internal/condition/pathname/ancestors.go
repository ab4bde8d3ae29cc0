package pathname

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Ancestors are the directories above the paths that the literals of a condition name. Renaming one
// of them moves the paths below it out of the condition:
//
//	conf/secrets/**   the root and all directories above it, conf, conf/secrets
//	**/.config/gh/x   **/.config, **/.config/gh
//	**/.env           none: the condition matches such a file wherever it is moved
type Ancestors []*Test

// AncestorsOf returns the ancestors of checked literals. A pattern has none; see
// [Pattern.Loses].
func AncestorsOf(s condition.Spec, env condition.Env) Ancestors {
	var literals []Literal
	for _, lit := range s.Values {
		list, err := ReadPath(s.Kind, lit.Text, true)
		if err == nil {
			literals = append(literals, list...)
		}
	}
	list := Ancestors{ancestorTest(literals, env, true)}
	if slices.ContainsFunc(literals, func(l Literal) bool { return l.negates }) { // see compilePath
		list = append(list, ancestorTest(literals, env, false))
	}
	return list
}

func ancestorTest(literals []Literal, env condition.Env, folded bool) *Test {
	p := pathform.NewContext(env, true, true)
	p.Folded = folded
	b := Builder{NFA: automaton.New(), Env: p.Env, Restrictive: true, Folded: folded, Suspects: true}
	for _, lit := range literals {
		b.addAncestors(lit)
	}
	return &Test{Context: p, PathStates: newSinglePart(func() *automaton.NFA { return b.NFA })}
}

// Hold reports whether a path may name one of the directories. literal is set if the path has no
// expansions.
func (a Ancestors) Hold(dir []byte, literal bool) bool {
	var v pathform.Value
	v.Reset(dir)
	for _, t := range a {
		p := t.Context
		p.Expands = !literal
		if t.judgeFrom(&v, &p) {
			return true
		}
	}
	return false
}

// addAncestors adds the directories above a literal.
func (b *Builder) addAncestors(lit Literal) {
	for i := range lit.suffix {
		if i > 0 && lit.suffix[i] == '/' {
			b.addSuffix(lit.suffix[:i])
		}
	}
	anchored := len(lit.Components) > 0 && !isDoubleStar(lit.Components[0])
	switch {
	case lit.home:
		b.Accept(b.Text(0, "~"))
		b.addWay(b.Env.Home)
	case lit.absolute:
		b.addWay("/")
	case anchored:
		b.Accept(0)
		b.addWay(b.Env.Root)
		if b.Env.Root == "" {
			b.Accept(b.Text(0, ".."))
			b.Accept(b.Loop(b.Text(0, "../"), automaton.Any))
		}
	}
	for k := 1; k < len(lit.Components); k++ {
		if part := lit.Components[:k]; slices.ContainsFunc(part, func(c []glob.Token) bool { return !isDoubleStar(c) }) {
			b.addLiteral(Literal{absolute: lit.absolute, home: lit.home, Components: slices.Clip(part)})
		}
	}
}

// addWay adds an absolute path and the directories above it.
func (b *Builder) addWay(path string) {
	if path == "" {
		return
	}
	b.Accept(b.absolute())
	names := SplitLiteral(path).Components
	for k := range names {
		b.addComponents(b.absolute(), names[:k+1], false)
	}
}

// elsewhere is a directory that no pattern matches.
const elsewhere = "\ue000"

// Loses reports whether a pattern matches some path below a directory but not in another directory.
// A pattern that matches anywhere in a path follows the file.
func (t *Pattern) Loses(dir string, literal bool) bool {
	list, ok := t.Test.(plaintext.Patterns)
	if !ok {
		return true
	}
	for _, p := range list {
		language := plaintext.Patterns{p}.Language()
		meets := func(dir string, glob bool) regular.Answer {
			return regular.Intersect(language, regular.FromNFA(underneath(dir, glob, Swept{Hidden: true}))).Empty(regular.DefaultBudget)
		}
		if meets(elsewhere, false) == regular.No {
			continue
		}
		if t.Context.AnyBelow(dir, literal, func(r pathform.Reading) bool {
			rel, inside := pathform.InsideRoot(r.Path, t.Env.Root)
			return meets(r.Path, r.Glob) != regular.Yes || inside && (rel == "" || meets(rel, r.Glob) != regular.Yes) || strings.HasPrefix(t.Env.Root+"/", strings.TrimSuffix(r.Path, "/")+"/")
		}) {
			return true
		}
	}
	return false
}
