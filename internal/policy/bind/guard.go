package bind

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
)

// Literals checks the literals of a guard for the type that it looks at.
func (b *Binder) Literals(g *syntax.Rule) {
	for i := range g.Conditions {
		k := &g.Conditions[i]
		target := condition.Target{}
		readings := []schema.Annotation{schema.None, schema.Path}
		if k.On != "" {
			a, _ := schema.ParseAnnotation(k.On)
			target.Type, readings = schema.String, []schema.Annotation{a}
		}
		var wrong *condition.SpecError
		fits := false
		for _, a := range readings {
			target.Annotation = a
			_, err := match.Compile(k.Spec, target, true, b.Env)
			wrong, fits = firstFault(wrong, err), fits || err == nil
		}
		if !fits {
			b.misfit(fmt.Sprintf("guard %d", g.Index+1), k, target, wrong)
		}
	}
}

// GuardsFit checks guards with a pointer against a tool that has the parameter.
func (b *Binder) GuardsFit(t *Tool) {
	for _, g := range b.File.Guards {
		for i := range g.Conditions {
			k := &g.Conditions[i]
			if k.On != "" {
				continue
			}
			reach := t.Schema.Reach(k.Arg)
			if reach.Missing >= 0 || reach.Unknown {
				continue // a guard does not apply to tools that lack its parameter
			}
			target := condition.Target{Type: reach.Types, Annotation: reach.Annotation, Expands: reach.Expands, As: reach.As}
			if _, err := match.Compile(k.Spec, target, true, b.Env); err != nil {
				b.misfit(fmt.Sprintf("guard %d, `%s` of %s", g.Index+1, k.Arg, t.Label()), k, target, firstFault(nil, err))
			}
		}
	}
}

// GuardOn binds a guard to the places it looks at in the calls of a tool: each is a
// guard of its own there.
func (b *Binder) GuardOn(l *List, g *syntax.Rule) []*Rule {
	if len(g.Conditions) != 1 || g.Conditions[0].On == "" {
		if bound, ok := b.Rule(&List{Kind: l.Kind, Shared: true, Tool: l.Tool, Owner: l.Owner}, g); ok {
			return []*Rule{bound}
		}
		return nil
	}
	var list []*Rule
	a, _ := schema.ParseAnnotation(g.Conditions[0].On)
	for pointer, location := range l.Tool.Schema.All() {
		suspected := !location.Tabled() && !location.Guarded(g.Conditions[0].On) && eval.Suspects(g)
		if location.Seen()&schema.String == 0 || !location.Guarded(g.Conditions[0].On) && !suspected || a == schema.Path && (location.Runs() || location.HasWithin(schema.Patch)) {
			continue // files that command lines read and write are no values: they are tried by package diff
		}
		k := g.Conditions[0]
		k.Arg, k.On = slices.DeleteFunc(slices.Clone(pointer), func(token string) bool { return token == "*" }), ""
		one := *g
		one.Conditions = []syntax.Condition{k}
		reach := l.Tool.Schema.Reach(k.Arg)
		if reach.Missing >= 0 {
			continue
		}
		readings := readingsOf(reach, &k.Spec)
		if suspected {
			readings = []schema.Annotation{a}
		}
		bound, fits := b.conditionAs(l, &one, &one.Conditions[0], reach, readings)
		if !fits {
			continue
		}
		bound.Readings = slices.DeleteFunc(bound.Readings, func(r schema.Annotation) bool { return r != a })
		if len(bound.Readings) == 0 {
			bound.Readings = []schema.Annotation{a}
		}
		list = append(list, &Rule{Rule: &one, Bound: []*Condition{bound}})
	}
	return list
}
