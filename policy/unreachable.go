package policy

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/match"
)

// reachability reports the rules of a list that no arguments reach (D25-33 to
// D25-39, THREATS 4.4). It speaks about schema-valid arguments whose values are
// plainly written, and errs on the side of silence: what it reports is proved.
func (c *checker) reachability(l *checkedList) {
	a := &analysis{cover: c.cover, groups: make(map[string]*ruleGroup)}
	var unknown finding
	var open []*checkedRule
	for i, r := range l.rules {
		last := i == len(l.rules)-1
		f := a.judge(r, last)
		switch {
		case f.unreachable:
			c.unreachable(r, f)
			continue // it never fires, so it covers nothing
		case f.mixed:
			c.shadowed(r, f)
		case f.unknown:
			open, unknown.by = append(open, r), append(unknown.by, f.by...)
		}
		a.add(r)
	}
	if len(open) > 0 {
		below := finding{by: open}
		c.report(diag.NotProven, open[0].Pos, fmt.Sprintf("whether the rules above leave anything to %s was not decided", below.names()), "",
			unknown.related(1)...)
	}
}

// finding is what is known about one rule.
type finding struct {
	unreachable bool
	mixed       bool // only lists of mixed values reach it
	unknown     bool // not decided
	by          []*checkedRule
	condition   *checkedCondition // the member that the others leave nothing to
	exhausted   *ruleGroup        // the pointer that the others leave nothing of
}

// analysis walks a list from the top. Rules with one condition are grouped by what
// they look at; within a group the set algebra of THREATS 4.4 decides.
type analysis struct {
	cover     coverage
	groups    map[string]*ruleGroup
	compounds []*checkedRule
	catchAll  *checkedRule
	exhausted *ruleGroup
}

// judge decides whether a rule can fire below those that were added.
func (a *analysis) judge(r *checkedRule, last bool) finding {
	if a.catchAll != nil {
		return finding{unreachable: true, by: []*checkedRule{a.catchAll}}
	}
	if a.exhausted != nil && !(last && r.catchAll()) {
		// A catch-all at the very end is what D25-11 asks for.
		return finding{unreachable: true, by: a.exhausted.coveringAll(), exhausted: a.exhausted}
	}
	var open finding
	for _, k := range r.conditions {
		g := a.groups[k.key]
		if g == nil {
			continue
		}
		f := g.judge(a.cover, r, k)
		f.condition = k
		if f.unreachable {
			return f
		}
		if f.mixed && len(r.conditions) == 1 || f.unknown && !open.mixed {
			open = f
		}
	}
	for _, e := range a.compounds {
		if coversRule(a.cover, e, r) {
			return finding{unreachable: true, by: []*checkedRule{e}}
		}
	}
	return open
}

// add takes a rule into account for those below it.
func (a *analysis) add(r *checkedRule) {
	switch {
	case r.catchAll():
		a.catchAll = r
	case len(r.conditions) > 1:
		a.compounds = append(a.compounds, r)
	case len(r.conditions) == 1:
		k := r.conditions[0]
		g := a.groups[k.key]
		if g == nil {
			g = newRuleGroup()
			a.groups[k.key] = g
		}
		g.add(r, k)
		if a.exhausted == nil && r.When == nil && g.exhausted() {
			a.exhausted = g
		}
	}
}

// coversRule is the pairwise law for compounds: every member of e covers some
// member of l, with the quantifiers (THREATS 4.4, K28).
func coversRule(cover coverage, e, l *checkedRule) bool {
	if !sameWhen(e.Rule, l.Rule) || len(l.conditions) == 0 {
		return false
	}
	for _, x := range e.conditions {
		covered := slices.ContainsFunc(l.conditions, func(y *checkedCondition) bool {
			return x.key == y.key && carries(x, y) && coversCondition(cover, x, y)
		})
		if !covered {
			return false
		}
	}
	return true
}

// carries is step 2 for a pair: whether a cover of the values is a cover of the
// arguments.
func carries(e, l *checkedCondition) bool {
	if e.several {
		return !e.all || l.all
	}
	return !defaultReaches(e, l)
}

// sameWhen reports whether an earlier rule holds in all calls in which a later one
// may.
func sameWhen(e, l *Rule) bool {
	if e.When == nil {
		return true
	}
	if l.When == nil {
		return false
	}
	x, y := *e.When, *l.When
	x.Pos, y.Pos = diag.Range{}, diag.Range{}
	return reflect.DeepEqual(x, y)
}

// defaultReaches reports whether the absence of the argument may reach l past e: the
// schema's default counts as a value for restrictive rules only (B9).
func defaultReaches(e, l *checkedCondition) bool {
	return e.rule.Mode.Permissive() && len(l.defaults()) > 0
}

// defaults lists the schema's defaults that satisfy a restrictive condition when
// the argument is absent.
func (k *checkedCondition) defaults() []match.Literal {
	if k.rule.Mode.Permissive() {
		return nil
	}
	var list []match.Literal
	for _, p := range k.reach.Places {
		for _, v := range p.Defaults() {
			if lit := literalOf(v); holdsLiteral(k, lit) {
				list = append(list, lit)
			}
		}
	}
	return list
}

// literalOf writes a JSON value as a literal.
func literalOf(v jsonstream.Value) match.Literal {
	lit := match.Literal{Text: string(v.Raw()), JSON: string(jsonstream.AppendCanonical(nil, v))}
	switch v.Kind() {
	case jsonstream.String:
		lit.Kind, lit.Text = match.LiteralString, v.Text()
	case jsonstream.Number:
		lit.Kind = match.LiteralNumber
	case jsonstream.True, jsonstream.False:
		lit.Kind = match.LiteralBool
	case jsonstream.Object:
		lit.Kind = match.LiteralObject
	}
	return lit
}

// coversCondition reports whether every value that satisfies l satisfies e.
func coversCondition(cover coverage, e, l *checkedCondition) bool {
	covered, _ := coveredBy(cover, l, []*groupEntry{{condition: e, numbers: intervals(e)}})
	return covered
}

// unreachable reports the finding with all rules that are to blame (D25-39).
func (c *checker) unreachable(r *checkedRule, f finding) {
	message := fmt.Sprintf("%s can never match: ", r.name())
	hint := ""
	switch {
	case f.exhausted != nil:
		message += fmt.Sprintf("%s together match every value of `%s`", f.names(), f.exhausted.pointer())
	case len(f.by) > 1:
		message += fmt.Sprintf("%s together match everything that `%s` does", f.names(), f.condition.text())
	case len(f.by[0].Conditions) == 0:
		message += fmt.Sprintf("%s has no condition and matches everything", f.by[0].name())
		hint = fmt.Sprintf("move %s to the end", f.by[0].name())
	default:
		message += fmt.Sprintf("%s matches everything that it does", f.by[0].name())
		if f.condition != nil {
			message = fmt.Sprintf("%s can never match: `%s` of %s matches everything that `%s` does",
				r.name(), f.by[0].conditions[0].text(), f.by[0].name(), f.condition.text())
		}
		hint = fmt.Sprintf("write it above %s, or remove it", f.by[0].name())
	}
	c.report(diag.Unreachable, r.Pos, message, hint, f.related(16)...)
}

// shadowed warns about a rule that only lists of mixed values reach.
func (c *checker) shadowed(r *checkedRule, f finding) {
	c.report(diag.ShadowedMostly, r.Pos, fmt.Sprintf("only lists of mixed values reach %s: where every element of `%s` satisfies `%s`, %s already decides",
		r.name(), f.condition.Arg, f.condition.text(), f.names()),
		fmt.Sprintf("write it above %s", f.by[0].name()), f.related(16)...)
}

// names lists the rules to blame for a message.
func (f finding) names() string {
	const limit = 4
	var text string
	for i, r := range f.by {
		switch {
		case i == limit:
			return fmt.Sprintf("%s and %d more", text, len(f.by)-limit)
		case i == 0:
		case i == len(f.by)-1:
			text += " and "
		default:
			text += ", "
		}
		text += r.name()
	}
	return text
}

func (f finding) related(limit int) []diag.Related {
	var list []diag.Related
	for _, r := range f.by[:min(limit, len(f.by))] {
		list = append(list, diag.Related{Range: r.Pos, Message: r.name() + " is here"})
	}
	return list
}

// text is the condition's matcher as it is written.
func (k *Condition) text() string {
	parts := conditionParts(k, false)
	text := parts[1].String()
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:57]) + "..."
	}
	return text
}

// isFinite reports a condition that is a set of literals.
func isFinite(k *checkedCondition) bool {
	return k.Spec.Kind == match.Const || k.Spec.Kind == match.Enum
}
