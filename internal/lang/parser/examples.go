package parser

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// examples reads examples = { match = [...], no_match = [...] }.
func (p *ruleParser) examples(e *tomltree.Entry, r *syntax.Rule) {
	if e == nil || !p.table(e) {
		return
	}
	p.known(e.Value, exampleKeys)
	for i := range r.Conditions {
		if c := &r.Conditions[i]; c.Spec.Definition.Sources {
			p.report(diag.BadCondition, e.KeyRange, "an example has no texts, so it shows nothing about `"+c.Spec.Kind.String()+"`", "write a case with `[[case.text]]` for stopgate test")
			return
		}
	}
	for i, key := range exampleKeys {
		member := e.Value.Get(key)
		if member == nil {
			continue
		}
		if member.Value.Kind != tomltree.Array {
			p.wrongType(member, "an array of examples")
			continue
		}
		for _, v := range member.Value.Elements {
			lit, ok := p.literal(v)
			switch {
			case !ok:
				continue
			case lit.Kind == condition.LiteralArray:
				p.report(diag.WrongType, v.Range, "an example is the arguments of a call or one value of its argument, not an array", "write `{ name = value }`")
				continue
			case lit.Kind != condition.LiteralObject && len(r.Conditions) != 1:
				p.report(diag.WrongType, v.Range, "one value is an example for a rule with one condition only", "write the arguments: `{ name = value }`")
				continue
			}
			r.Examples = append(r.Examples, syntax.Example{Matches: i == 0, Value: lit, Pos: v.Range})
		}
	}
}
