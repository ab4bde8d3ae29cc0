package eval

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
)

// maxExplained is the maximum length in bytes of a value that is kept for its explanation.
const maxExplained = 4 << 10

// explainable keeps the string that has just ended if it decided a permissive condition, which may
// have failed only because it has several readings.
func (e *leafTests) explainable(c int32) {
	st := &e.conds[c]
	if e.plan.conds[c].permissive && !e.probing && st.phase == failed && len(e.text()) <= maxExplained {
		st.value = e.spine.keep(e.text())
	}
}

// uncertain returns in one line why a permissive condition failed for a string for which one of its
// readings holds, "" if none does: then the value simply differs.
func (e explainer) uncertain(k *cond, ast *syntax.Condition, pointer, value string) string {
	env := *k.env
	holdsAs := func(a schema.Annotation, restrictive bool) bool {
		target := condition.Target{Type: schema.String, Annotation: a, Paths: ast.On == "path" && a == schema.Command}
		m, err := match.Compile(ast.Spec, target, restrictive, env)
		return err == nil && m.Match([]byte(value))
	}
	at := e.annotationsAt(k, ast, pointer)
	if len(at) > 1 && holdsAs(schema.None, false) && !holdsAs(schema.Path, false) {
		return `no schema gives the parameter a type, so it counts as a path too, and as one it does not plainly match; declare it with type = "string"` + urlHint(value)
	}
	for _, a := range at {
		if !holdsAs(a, true) || holdsAs(a, false) {
			continue
		}
		switch a {
		case schema.Path:
			return "the path can be read in several ways: " + strings.Join(spellings(value, env), "; ")
		case schema.URL:
			return "parsers read the URL differently, so the rule is not certain for it"
		case schema.None:
			return "the value has invisible characters or white space around it, without which it would match"
		}
	}
	return ""
}

// urlHint suggests the type url for a value that begins like a URL.
func urlHint(value string) string {
	if scheme, _, ok := strings.Cut(value, "://"); ok && len(scheme) < 16 {
		return ` or "url"`
	}
	return ""
}

// annotationsAt returns the annotations under which a condition reads the strings at a pointer:
// plain text and path if no schema declares them.
func (e explainer) annotationsAt(k *cond, ast *syntax.Condition, pointer string) []schema.Annotation {
	for i := range e.plan.views {
		if e.plan.views[i].schema == nil {
			continue
		}
		r := e.plan.views[i].schema.Reach(ast.Arg)
		if r.Unknown {
			return []schema.Annotation{schema.None, schema.Path}
		}
		for _, p := range r.Locations {
			known := p.Types() != schema.AnyType
			return readings(&cond{on: ast.On, kind: ast.Spec.Kind, ast: ast}, p, known)
		}
	}
	return []schema.Annotation{schema.None, schema.Path} // the tool has no schema
}

// spellings returns the first readings of a path.
func spellings(value string, env condition.Env) (list []string) {
	all, complete := pathform.Readings(value, env, false)
	for i, r := range all {
		if i == 3 {
			complete = false
			break
		}
		list = append(list, r.Path+" ("+r.Steps.String()+")")
	}
	if !complete {
		list = append(list, "and others")
	}
	return list
}
