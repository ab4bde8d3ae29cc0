package bind

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// condition compiles a condition for a tool's parameter (D25-30, D25-31).
func (b *Binder) condition(l *List, r *syntax.Rule, k *syntax.Condition, reach schema.Reach) (*Condition, bool) {
	return b.conditionAs(l, r, k, reach, readingsOf(reach, &k.Spec))
}

// conditionAs is condition for a string that is read in some ways, whatever the schema calls it.
func (b *Binder) conditionAs(l *List, r *syntax.Rule, k *syntax.Condition, reach schema.Reach, readings []schema.Annotation) (*Condition, bool) {
	bound := &Condition{
		Condition: k, Rule: r, Reach: reach, Key: reach.Expanded, Several: reach.CrossesArray || reach.Unknown,
		Lacks: mayLack(l.Tool.Schema, reach), Env: b.Env, All: r.Mode.Permissive(), Readings: readings,
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
	bound.Target.Expands, bound.Target.As = reach.Expands, reach.As
	if r.Mode.Permissive() && bound.IsCommand() && !b.accompanied(l, bound) {
		return bound, false
	}
	var wrong *condition.SpecError
	bound.Readings = nil
	for _, a := range readings {
		bound.Target.Annotation = a
		if err := match.Check(k.Spec, bound.Target, !r.Mode.Permissive(), &b.Env); err != nil {
			wrong = firstFault(wrong, err)
			continue
		}
		bound.Readings = append(bound.Readings, a)
	}
	if len(bound.Readings) == 0 {
		b.misfit(r.Label()+", `"+k.Arg.String()+"`", k, bound.Target, wrong)
		return bound, false
	}
	return bound, b.canHold(l, bound)
}

// accompanied combines the conditions of a permissive rule on one command line: a redirection
// that one of them judges is no obstacle to the others. A condition on the files that a
// command reads or writes does not identify the command, so it permits no command by itself.
func (b *Binder) accompanied(l *List, k *Condition) bool {
	accompanied := false
	for i := range k.Rule.Conditions {
		other := &k.Rule.Conditions[i]
		if l.Tool.Schema.Reach(other.Arg).Expanded != k.Reach.Expanded {
			continue
		}
		switch other.Spec.Kind {
		case condition.Reads:
			k.Target.ReadsJudged = true
		case condition.Writes:
			k.Target.WritesJudged = true
		case condition.Present:
		default:
			accompanied = true
		}
	}
	if !accompanied {
		b.Report(diag.PathsOnly, k.Pos, fmt.Sprintf("%s never runs anything: `%s` says what a command may touch, not which command may run", k.Rule.Label(), k.Spec.Kind),
			"name the commands beside it: `all = [ { arg = "+tomltree.Quote(k.Arg.String())+`, usage = "sort **" }, { arg = `+tomltree.Quote(k.Arg.String())+", "+k.Text()+" } ]`")
	}
	return accompanied
}

// readingsOf lists the ways in which a string may be read: by every annotation
// that a branch of the schema gives it; without any schema as text and as path.
func readingsOf(reach schema.Reach, spec *condition.Spec) []schema.Annotation {
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
		return spec.Row().Undeclared
	}
	return []schema.Annotation{schema.None}
}

// canHold reports a condition that no arguments satisfy: a permissive rule for the
// absence of a parameter that has a default (K5).
func (b *Binder) canHold(l *List, k *Condition) bool {
	if k.Spec.Kind != condition.Present || !k.Rule.Mode.Permissive() {
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
			b.Report(diag.NeverHolds, k.Pos, fmt.Sprintf(
				"%s never holds: where `%s` is absent, %s runs with its default", k.Rule.Label(), k.Arg, l.Tool.Label()), hint)
			return false
		}
	}
	return true
}
