package eval

import (
	"slices"
	"sync"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/index"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
)

// bundlesLines reports whether an index of command lines supports a condition: it compares words with
// literals of the rule, and all values at its pointer are command lines or argument vectors.
func (c *compiler) bundlesLines(v *ToolPolicy, k *syntax.Condition) bool {
	switch k.Spec.Kind {
	case condition.Const, condition.Enum, condition.Prefix, condition.Suffix, condition.Glob, condition.Pattern, condition.Usage:
	default:
		return false
	}
	reach := c.reach(v, k)
	return k.On == "" && reach.Missing < 0 &&
		!slices.ContainsFunc(k.Spec.Values, func(l condition.Literal) bool { return l.Kind != condition.LiteralString }) &&
		!slices.ContainsFunc(reach.Locations, func(p *schema.Location) bool { return !isLine(p) })
}

// isLine reports whether the strings at a location are command lines and nothing else.
func isLine(p *schema.Location) bool {
	all := annotated(p, schema.URL, schema.Path, schema.Command, schema.Patch)
	return len(all) == 1 && all[0] == schema.Command &&
		!slices.ContainsFunc(p.Within(), func(q *schema.Location) bool { return q.Types()&schema.Object != 0 })
}

// fitLines compiles the index of a bundle on command lines for a location. Its conditions are compiled
// when a line has their words.
func (g *grapher) fitLines(k *cond, p *schema.Location) *fitting {
	b, plan, late, of := &g.plan.bundles[k.bundle], g.plan, g.late, *k
	f := &fitting{first: literal.None}
	f.lines = index.NewLines(!k.permissive, plan.table.Line, func(id int32) []*match.Matcher {
		one := of
		one.ast = plan.rules[id].sole
		one.kind = one.ast.Spec.Kind
		return late.fit(&one, p)
	})
	checked := isLine(p) // then they fit: the compiler has compared them with such a location
	one := *k
	for i, ast := range g.conditions[k.bundle] {
		one.kind, one.ast = ast.Spec.Kind, ast
		if !checked && !g.matchers.fits(&one, p, false) {
			continue
		}
		if f.lines.Add(b.rules[i], plan.table.CommandKeys(&ast.Spec)); f.first == literal.None {
			f.first = b.rules[i]
		}
		f.fits = stringType
	}
	f.lines.Build()
	return f
}

// lateMatchers are conditions that evaluations compile.
type lateMatchers struct {
	mu  sync.Mutex
	all matchers
}

func (l *lateMatchers) fit(k *cond, p *schema.Location) []*match.Matcher {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.fit(k, p).texts
}
