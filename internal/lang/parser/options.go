package parser

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// isOption reports whether a key is a further key of some condition.
func (p *reader) isOption(key string) bool { return slices.Contains(p.options, key) }

// conditionOptions reads the further keys of a condition, whose kind must have them.
func (p *ruleParser) conditionOptions(t *tomltree.Value, c *syntax.Condition) bool {
	ok := true
	for _, e := range t.Entries {
		known := slices.ContainsFunc(c.Spec.Definition.Options, func(o condition.Option) bool { return o.Key == e.Key })
		if p.isOption(e.Key) && !known {
			p.report(diag.BadCondition, e.KeyRange, fmt.Sprintf("`%s` belongs to %s, not to `%s`", e.Key, diag.Words(p.kindsWith(e.Key)), c.Spec.Kind), "leave it out")
			ok = false
		}
	}
	for _, o := range c.Spec.Definition.Options {
		e := t.Get(o.Key)
		if e == nil {
			continue
		}
		lit, good := p.literal(e.Value)
		switch {
		case !good:
			ok = false
		case lit.Kind != o.Kind:
			p.wrongType(e, optionTypes[o.Kind])
			ok = false
		case o.Words != nil && !slices.Contains(o.Words, lit.Text):
			p.report(diag.BadValue, e.Value.Range, fmt.Sprintf("`%s` cannot be %q", e.Key, lit.Text), suggestion(lit.Text, o.Words))
			ok = false
		default:
			c.Spec.Options = append(c.Spec.Options, condition.Setting{Key: o.Key, Value: lit})
		}
	}
	return ok
}

var optionTypes = map[condition.LiteralKind]string{
	condition.LiteralString: "a string", condition.LiteralNumber: "a number", condition.LiteralBool: "true or false",
}

// kindsWith returns the kinds of conditions that have a further key.
func (p *reader) kindsWith(key string) (names []string) {
	for _, d := range p.policy.Conditions.Kinds {
		if slices.ContainsFunc(d.Options, func(o condition.Option) bool { return o.Key == key }) {
			names = append(names, d.Kind.String())
		}
	}
	return names
}

// suggestion is the nearest of some words, else all of them.
func suggestion(word string, words []string) string {
	if hint := diag.DidYouMean(word, words); hint != "" {
		return hint
	}
	return "possible: " + diag.Words(words)
}

// sourceNames checks the literals of a condition on sources.
func (p *reader) sourceNames(c *syntax.Condition) bool {
	ok := true
	for i, lit := range c.Spec.Values {
		at := c.ValueRange(i)
		if lit.Kind != condition.LiteralString {
			p.report(diag.WrongType, at, fmt.Sprintf("`%s` names sources, not %s", c.Spec.Kind, condition.Describe(lit)), "")
			ok = false
			continue
		}
		ok = p.knownSource(lit.Text, at) && ok
	}
	return ok
}

// knownSource reports a name that is no source of the file or of the language.
func (p *reader) knownSource(name string, at diag.Range) bool {
	if p.policy.HasSource(name) {
		return true
	}
	names := slices.Clone(syntax.BuiltInSources)
	for _, s := range p.policy.Sources {
		names = append(names, string(s.Name))
	}
	hint := diag.DidYouMean(name, names)
	if hint == "" {
		hint = "add `[sources." + tomltree.Key(name) + "]`; built in are " + diag.Words(syntax.BuiltInSources)
	}
	p.report(diag.UnknownSource, at, fmt.Sprintf("there is no source %q", name), hint)
	return false
}

// sameText reads same_text of a rule with several conditions on sources.
func (p *ruleParser) sameText(e *tomltree.Entry, r *syntax.Rule) {
	r.SameText = p.flag(e)
	if !r.SameText {
		return
	}
	sources := 0
	for i := range r.Conditions {
		if r.Conditions[i].Spec.Kind == condition.From {
			sources++
		}
	}
	if sources < 2 {
		p.report(diag.BadCondition, e.KeyRange, "`same_text` joins conditions with `from`, and the rule has fewer than two", "write them as members of `all`")
	}
}

// hiddenPermits reports a rule that runs calls because of text that people do not see or nobody
// trusts, or because of what a value does not carry.
func (p *ruleParser) hiddenPermits(r *syntax.Rule) {
	if !r.Mode.Permissive() {
		return
	}
	for i := range r.Conditions {
		c := &r.Conditions[i]
		if c.Spec.Kind == condition.Carries {
			p.report(diag.BadCondition, c.ValuePos, "`carries` only restricts: what a value does not hold is no reason to run a call", "write a guard, or a rule that asks or denies")
		}
		if c.Spec.Kind != condition.From {
			continue
		}
		for j, lit := range c.Spec.Values {
			if lit.Text == string(flow.Hidden) || lit.Text == string(flow.Untrusted) {
				p.report(diag.BadCondition, c.ValueRange(j), fmt.Sprintf("a rule cannot run calls because a value is from %q", lit.Text),
					"name a source that is trusted, or write a rule that restricts")
			}
		}
	}
}
