package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/jsonstream"
)

// condition compiles a condition for a tool's parameter (D25-30, D25-31).
func (c *checker) condition(l *checkedList, r *syntax.Rule, k *syntax.Condition, reach schema.Reach) (*symbolic.Condition, bool) {
	return c.conditionAs(l, r, k, reach, readingsOf(reach, k.Spec.Kind))
}

// conditionAs is condition for a string that is read in some ways, whatever the schema calls it.
func (c *checker) conditionAs(l *checkedList, r *syntax.Rule, k *syntax.Condition, reach schema.Reach, readings []schema.Annotation) (*symbolic.Condition, bool) {
	bound := &symbolic.Condition{
		Condition: k, Rule: r, Reach: reach, Key: reach.Expanded, Several: reach.CrossesArray || reach.Unknown,
		Lacks: symbolic.MayLack(l.tool.schema, reach), Env: c.env, All: r.Mode.Permissive(), Readings: readings,
		Scratch: &c.scratch, Memory: c.memory,
	}
	if bound.Key == "" || reach.Unknown {
		bound.Key = k.Arg.String()
	}
	for _, q := range []syntax.Quantifier{r.Match, k.Match} {
		if q != syntax.QuantifierDefault {
			bound.All = q == syntax.QuantifierAll
		}
	}
	if !reach.Unknown {
		bound.Target.Type = reach.Types
	}
	bound.Target.Expands = reach.Expands
	if r.Mode.Permissive() && bound.IsCommand() && !c.accompanied(l, bound) {
		return bound, false
	}
	var wrong *match.SpecError
	bound.Readings = nil
	for _, a := range readings {
		bound.Target.Annotation = a
		if err := match.Check(k.Spec, bound.Target, !r.Mode.Permissive(), c.env); err != nil {
			wrong = firstFault(wrong, err)
			continue
		}
		bound.Readings = append(bound.Readings, a)
	}
	if len(bound.Readings) == 0 {
		c.misfit(r.Label()+", `"+k.Arg.String()+"`", k, bound.Target, wrong)
		return bound, false
	}
	return bound, c.canHold(l, bound)
}

// accompanied combines the conditions of a permissive rule on one command line: a redirection
// that one of them judges is no obstacle to the others. A condition on the files that a
// command reads or writes does not identify the command, so it permits nothing by itself.
func (c *checker) accompanied(l *checkedList, k *symbolic.Condition) bool {
	accompanied := false
	for i := range k.Rule.Conditions {
		other := &k.Rule.Conditions[i]
		if l.tool.schema.Reach(other.Arg).Expanded != k.Reach.Expanded {
			continue
		}
		switch other.Spec.Kind {
		case match.Reads:
			k.Target.ReadsJudged = true
		case match.Writes:
			k.Target.WritesJudged = true
		case match.Present:
		default:
			accompanied = true
		}
	}
	if !accompanied {
		c.report(diag.PathsOnly, k.Pos, fmt.Sprintf("%s never runs anything: `%s` says what a command may touch, not which command may run", k.Rule.Label(), k.Spec.Kind),
			"name the commands beside it: `all = [ { arg = "+tomltree.Quote(k.Arg.String())+`, usage = "sort **" }, { arg = `+tomltree.Quote(k.Arg.String())+", "+k.Text()+" } ]`")
	}
	return accompanied
}

// readingsOf lists the ways in which a string may be read: by every annotation
// that a branch of the schema gives it; without any schema as text and as path.
func readingsOf(reach schema.Reach, kind match.Kind) []schema.Annotation {
	var list []schema.Annotation
	for a := schema.URL; a <= schema.Patch; a++ {
		if slices.ContainsFunc(reach.Locations, func(p *schema.Location) bool { return p.Has(a) || a == schema.Command && p.Has(schema.Argv) }) {
			list = append(list, a)
		}
	}
	switch {
	case len(list) > 0:
		return list
	case reach.Unknown:
		return match.Define(kind).Undeclared
	}
	return []schema.Annotation{schema.None}
}

// canHold reports a condition that no arguments satisfy: a permissive rule for the
// absence of a parameter that has a default (K5).
func (c *checker) canHold(l *checkedList, k *symbolic.Condition) bool {
	if k.Spec.Kind != match.Present || !k.Rule.Mode.Permissive() {
		return true
	}
	if there, _ := k.Spec.Presence(); there {
		return true
	}
	for _, p := range k.Reach.Locations {
		if len(p.Defaults()) > 0 {
			hint := "match the default value, or remove the rule"
			if p.Defaults()[0].Kind() == jsonstream.Null {
				hint = "match the default, null: `{ arg = " + tomltree.Quote(k.Arg.String()) + ", const = { null = true }, ... }`"
			}
			c.report(diag.NeverHolds, k.Pos, fmt.Sprintf(
				"%s never holds: where `%s` is absent, %s runs with its default", k.Rule.Label(), k.Arg, l.tool.label()), hint)
			return false
		}
	}
	return true
}

// firstFault keeps the first error that matchers returned for a condition.
func firstFault(before *match.SpecError, err error) *match.SpecError {
	var spec *match.SpecError
	if before != nil || !errors.As(err, &spec) {
		return before
	}
	return spec
}

// misfit reports the error of a matcher as a diagnostic of the condition. If several
// readings fail, it is the error of the first.
func (c *checker) misfit(who string, k *syntax.Condition, target match.Target, spec *match.SpecError) {
	at := k.ValuePos
	var related []diag.Related
	if place, ok := k.OffsetRange(spec.Index, spec.Offset); ok {
		at = place
		if k.Spec.List != "" {
			related = append(related, diag.Related{Range: k.Pos, Message: "the list is used here"})
		}
	}
	separator := ": "
	if word, _, _ := strings.Cut(spec.Message, " "); slices.Contains(predicates, word) {
		separator = " "
	}
	if spec.Index < 0 && spec.Hint == "" {
		spec.Hint = fittingMatchers(target.Type)
	}
	c.report(misfitCode(k, spec, target), at, fmt.Sprintf("%s: `%s`%s%s", who, k.Spec.Kind, separator, spec.Message), spec.Hint, related...)
}

// fittingMatchers lists the matchers that accept values of some types.
func fittingMatchers(types schema.Type) string {
	var keys []string
	for _, m := range []struct {
		types schema.Type
		keys  []string
	}{
		{schema.String, []string{"const", "enum", "prefix", "suffix", "glob", "pattern"}},
		{schema.Integer | schema.Number, []string{"const", "enum", "minimum", "maximum", "exclusive_minimum", "exclusive_maximum"}},
		{schema.Boolean | schema.Object, []string{"const", "enum"}},
		{schema.Array, []string{"min_items", "max_items"}},
	} {
		for _, key := range m.keys {
			if types&m.types != 0 && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return "possible here: " + diag.Words(append(keys, "present"))
}

// predicates begin messages whose subject is the matcher or its literal.
var predicates = []string{"cannot", "ends", "has", "is", "leaves", "looks", "must", "names", "takes"}

// misfitCode returns the code of a misfit: the matcher, the type of a literal, or its text is
// wrong.
func misfitCode(k *syntax.Condition, spec *match.SpecError, target match.Target) diag.Code {
	if spec.Index < 0 || spec.Index >= len(k.Spec.Values) {
		return diag.MatcherType
	}
	isString := k.Spec.Values[spec.Index].Kind == match.LiteralString
	takesString := target.Type == 0 || target.Type&schema.String != 0
	switch {
	case !isString || !takesString:
		return diag.LiteralType
	case k.Spec.Kind == match.Glob, k.Spec.Kind == match.Outside:
		return diag.BadGlob
	case k.Spec.Kind == match.Pattern:
		return diag.BadPattern
	case target.Annotation == schema.Path:
		return diag.PathLiteral
	}
	return diag.LiteralType
}

// guards checks the literals of guards for the type they look at. A guard with a
// pointer is also checked against every known tool that has the parameter.
func (c *checker) guards() {
	for _, g := range c.policy.Guards {
		before := len(c.diags)
		for i := range g.Conditions {
			k := &g.Conditions[i]
			target := match.Target{}
			readings := []schema.Annotation{schema.None, schema.Path}
			if k.On != "" {
				a, _ := schema.ParseAnnotation(k.On)
				target.Type, readings = schema.String, []schema.Annotation{a}
			}
			var wrong *match.SpecError
			fits := false
			for _, a := range readings {
				target.Annotation = a
				_, err := match.Compile(k.Spec, target, true, c.env)
				wrong, fits = firstFault(wrong, err), fits || err == nil
			}
			if !fits {
				c.misfit(fmt.Sprintf("guard %d", g.Index+1), k, target, wrong)
			}
			if k.On == "path" {
				c.lintName(g, k)
			}
		}
		if !c.diags[before:].HasErrors() {
			c.examples(fmt.Sprintf("guard %d", g.Index+1), g, nil)
		}
	}
}

// guardsFit checks guards with a pointer against a tool that has the parameter.
func (c *checker) guardsFit(t *checkedTool) {
	for _, g := range c.policy.Guards {
		for i := range g.Conditions {
			k := &g.Conditions[i]
			if k.On != "" {
				continue
			}
			reach := t.schema.Reach(k.Arg)
			if reach.Missing >= 0 || reach.Unknown {
				continue // a guard sees nothing in tools that lack its parameter
			}
			target := match.Target{Type: reach.Types, Annotation: reach.Annotation, Expands: reach.Expands}
			if _, err := match.Compile(k.Spec, target, true, c.env); err != nil {
				c.misfit(fmt.Sprintf("guard %d, `%s` of %s", g.Index+1, k.Arg, t.label()), k, target, firstFault(nil, err))
			}
		}
	}
}

// pathSeen notes a tool in whose calls no guard on paths can see anything (S40).
func (c *checker) pathSeen(t *checkedTool) {
	var guard *syntax.Rule
	for _, g := range c.policy.Guards {
		if len(g.Conditions) == 1 && g.Conditions[0].On == "path" {
			guard = g
		}
	}
	if guard == nil || t.schema == nil {
		return
	}
	text := false // that may name a file
	for pointer, p := range t.schema.All() {
		text = text || p.Types()&schema.String != 0 && len(pointer) == 1
		if p.HasWithin(schema.Path) || p.Runs() || p.HasWithin(schema.Patch) || p.HasWithin(schema.URL) || p.Unknown() || !p.Tabled() && p.Types()&schema.String != 0 {
			return
		}
	}
	if !text {
		return
	}
	c.report(diag.NoPathSeen, t.at, "no guard on paths sees anything in the calls of "+t.label()+": it declares no path, no patch, no command and no url",
		"where a parameter is a file name, write `type = \"path\"`",
		diag.Related{Range: guard.Pos, Message: "a guard on paths is here"})
}
