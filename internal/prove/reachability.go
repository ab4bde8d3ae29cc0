package prove

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy/bind"
	"github.com/stopgate/stopgate/internal/policy/check"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// prover searches for rules that no arguments reach.
type prover struct {
	*bind.Binder
	reached func(Reached)                                // is called for each rule; may be nil
	welcome func(schema.Annotation, analysis.Value) bool // see [symbolic.Translation]
}

// ruleList is a rule list in a proof.
type ruleList struct {
	*check.List
	rules []*symbolic.Rule
}

// unreachable returns a check.Prover. Conditions of all lists of a file share its memory.
func unreachable(reached func(Reached), welcome func(schema.Annotation, analysis.Value) bool) check.Prover {
	memory := &symbolic.Memory{}
	return func(b *bind.Binder, l *check.List) {
		p := &prover{Binder: b, reached: reached, welcome: welcome}
		p.list(&ruleList{l, memory.Rules(l.Bound)})
	}
}

// list reports the rules of a list that no arguments reach (D25-33 to
// D25-39), and rules of which that is not known. It covers arguments that fit the schema and
// whose values are plainly written (K47); package analysis proves it.
func (c *prover) list(l *ruleList) {
	t := symbolic.New(c.Env, l.Tool.Schema)
	t.Welcome = c.welcome
	findings := analysis.Reach(t.List(l.rules), analysis.Budget{})
	unknown := c.unknownGroups(l, findings)
	plain := c.factless(l)
	var open, by []*symbolic.Rule
	pairs := maxPairs
	for i, r := range l.rules {
		f := &findings[i]
		if t.Mixed {
			*f = analysis.Finding{Variable: -1}
		}
		if f.Answer == regular.No && namesHome(r) {
			*f = plain.atHome(t, r, i)
		}
		t := t
		if unknown != nil && unknown.better[i] {
			t = unknown.t
		}
		if c.reached != nil {
			c.reached(reachedOf(t, l, r, f))
		}
		if f.Answer != regular.No && !t.Mixed {
			if e := takenIfPlain(r, l.rules[:i], &pairs); e != nil {
				c.shadowedPlain(r, e)
				continue
			}
		}
		switch {
		case f.Answer == regular.NotProven && plain.shown(r.Rule, l.Tool.Schema, i):
		case f.Answer == regular.NotProven:
			if near := near(r, l.rules[:i]); len(near) > 0 {
				open, by = append(open, r), append(by, near...)
			}
		case f.Answer == regular.No && t.Vague(r):
			open = append(open, r)
		case f.Answer == regular.No:
			if r.CatchAll() && i == len(l.rules)-1 && !l.rules[max(0, i-1)].CatchAll() && !namesCatchAll(l, f) {
				continue // D25-11 requires a catch-all at the very end
			}
			c.covered(l, r, f, t)
		case len(f.Mixed) > 0:
			c.shadowed(l, r, f)
		}
	}
	if len(open) > 0 {
		c.Report(diag.NotProven, open[0].Pos, fmt.Sprintf("whether the rules above leave anything to %s was not decided", ruleNames(open)), "",
			relatedRules(by, 1)...)
	}
}

// unknownGroups are findings about calls whose groups are not known.
type unknownGroups struct {
	t      *symbolic.Translation
	better map[int]bool // the rules for which they show more
}

// unknownGroups completes findings about calls whose groups are known, if rules have conditions on
// them: a rule is unreachable if no call of either kind reaches it. It returns nil without such rules.
func (c *prover) unknownGroups(l *ruleList, findings []analysis.Finding) *unknownGroups {
	if !slices.ContainsFunc(l.rules, symbolic.NamesGroups) {
		return nil
	}
	u := &unknownGroups{t: symbolic.New(c.Env, l.Tool.Schema), better: make(map[int]bool)}
	u.t.Welcome, u.t.GroupsUnknown = c.welcome, true
	for i, also := range analysis.Reach(u.t.List(l.rules), analysis.Budget{}) {
		known := &findings[i]
		switch {
		case known.Answer == regular.Yes:
		case also.Answer == regular.Yes, known.Answer == regular.No && also.Answer != regular.No:
			*known, u.better[i] = also, true
		case known.Answer == regular.No:
			known.By = slices.Compact(slices.Sorted(slices.Values(slices.Concat(known.By, also.By))))
		}
	}
	return u
}

// namesHome reports a restrictive rule about paths in a home directory. Where that is does
// not follow from the text of a path, so the analysis knows no path that it certainly names;
// the rule holds for every path that may be there.
func namesHome(r *symbolic.Rule) bool {
	return !r.Mode.Permissive() && slices.ContainsFunc(r.Bound, func(k *symbolic.Condition) bool {
		return slices.Contains(k.Readings, schema.Path) && slices.ContainsFunc(k.Spec.Values, isHome)
	})
}

func isHome(lit condition.Literal) bool { return strings.HasPrefix(lit.Text, "~") }

// factless are the rules of a list above the first one with facts of the call.
type factless struct {
	count int
	bound func() *eval.Binding
}

func (c *prover) factless(l *ruleList) factless {
	var rules []*syntax.Rule
	for _, r := range l.rules {
		if r.When != nil {
			break
		}
		rules = append(rules, r.Rule)
	}
	return factless{len(rules), sync.OnceValue(func() *eval.Binding { return check.Alone(c.File, rules, l.Tool.Schema, c.Env) })}
}

// decides reports whether a rule decides some arguments.
func (p factless) decides(r *syntax.Rule, args []byte) bool {
	var doc jsonstream.Document
	if doc.Scan(args, jsonstream.Options{MaxExponent: jsonstream.AnyExponent}) != nil {
		return false
	}
	by := p.bound().ResultMode(&doc).Rule
	return by != nil && by.Line == r.Pos.Start.Line && by.Index == r.Index
}

// shown reports that an example of the rule at an index reaches it below the rules above, which is
// a proof where analysis found none.
func (p factless) shown(r *syntax.Rule, s *schema.Schema, at int) bool {
	pointer := check.ExamplePointer(r, s)
	return at < p.count && slices.ContainsFunc(r.Examples, func(x syntax.Example) bool {
		return x.Matches && p.decides(r, []byte(check.Arguments(x, pointer)))
	})
}

// atHome evaluates paths that the rule at an index names, as they are written.
func (p factless) atHome(t *symbolic.Translation, r *symbolic.Rule, at int) analysis.Finding {
	if at < p.count {
		for witness := range t.Tries(r, func(k *symbolic.Condition) []condition.Literal { return k.Spec.Values }) {
			if args, ok := t.Document(witness); ok && p.decides(r.Rule, args) {
				return analysis.Finding{Answer: regular.Yes, Witness: witness, Variable: -1}
			}
		}
	}
	return analysis.Finding{Variable: -1}
}

// maxPairs is how many pairs of rules on commands of one list are compared.
const maxPairs = 2_000

// takenIfPlain finds an unattended rule above a suspicious one that takes every plain
// command which that one names.
func takenIfPlain(r *symbolic.Rule, above []*symbolic.Rule, pairs *int) *symbolic.Rule {
	if r.Mode.Permissive() || len(r.Bound) != 1 || !r.Bound[0].IsCommand() {
		return nil
	}
	for _, e := range above {
		if !e.Mode.Permissive() || e.When != nil || len(e.Bound) != 1 || e.Bound[0].Key != r.Bound[0].Key ||
			!slices.Equal(e.Bound[0].Readings, r.Bound[0].Readings) {
			continue
		}
		if *pairs--; *pairs < 0 {
			return nil
		}
		if symbolic.CoversPlain(e.Bound[0], r.Bound[0]) == regular.Yes {
			return e
		}
	}
	return nil
}

// shadowedPlain warns about a restrictive rule on commands that is too far down the list.
func (c *prover) shadowedPlain(r, e *symbolic.Rule) {
	k := r.Bound[0]
	c.Report(diag.ShadowedPlain, r.Pos, fmt.Sprintf("only lines that are not plain commands reach %s: otherwise `%s` of %s matches everything that `%s` does, and it runs",
		r.Label(), e.Bound[0].Text(), e.Label(), k.Text()),
		fmt.Sprintf("write it above %s", e.Label()), relatedRules([]*symbolic.Rule{e}, 1)...)
}

// namesCatchAll reports whether a proof rests on a rule without conditions.
func namesCatchAll(l *ruleList, f *analysis.Finding) bool {
	return len(f.By) == 1 && l.rules[f.By[0]].CatchAll()
}

// covered reports the finding with all rules that are to blame (D25-39).
func (c *prover) covered(l *ruleList, r *symbolic.Rule, f *analysis.Finding, t *symbolic.Translation) {
	by := pickRules(l.rules, f.By)
	message, hint := r.Label()+" can never match: ", ""
	looks := conditionAt(r, t, f.Variable)
	if f.Variable < 0 && len(by) == 1 && len(r.Bound) == 1 {
		looks = r.Bound[0]
	}
	switch {
	case len(by) == 0:
		c.contradicts(r, looks)
		return
	case len(by) == 1 && by[0].CatchAll():
		message += by[0].Label() + " has no condition and matches everything"
		hint = "move " + by[0].Label() + " to the end"
	case looks == nil && f.Variable >= 0:
		message += fmt.Sprintf("%s every value of `%s`", together(by), t.Name(f.Variable))
	case looks != nil && len(by) == 1 && len(by[0].Bound) == 1:
		message += fmt.Sprintf("`%s` of %s matches everything that `%s` does", by[0].Bound[0].Text(), by[0].Label(), looks.Text())
		hint = fmt.Sprintf("write it above %s, or remove it", by[0].Label())
	case looks != nil:
		message += fmt.Sprintf("%s everything that `%s` does", together(by), looks.Text())
	default:
		message += together(by) + " everything that it does"
	}
	if hint == "" && len(by) == 1 {
		hint = fmt.Sprintf("write it above %s, or remove it", by[0].Label())
	}
	c.Report(diag.Unreachable, r.Pos, message, hint, relatedRules(by, 16)...)
}

// together names rules with their verb.
func together(by []*symbolic.Rule) string {
	if len(by) == 1 {
		return by[0].Label() + " matches"
	}
	return ruleNames(by) + " together match"
}

// near lists the rules that look where a rule does.
func near(r *symbolic.Rule, above []*symbolic.Rule) []*symbolic.Rule {
	var list []*symbolic.Rule
	for _, e := range above {
		for _, k := range e.Bound {
			if slices.ContainsFunc(r.Bound, func(own *symbolic.Condition) bool { return own.Key == k.Key }) {
				list = append(list, e)
				break
			}
		}
	}
	return list
}

// contradicts reports a rule that no arguments satisfy, independently of the rules above it.
func (c *prover) contradicts(r *symbolic.Rule, looks *symbolic.Condition) {
	var several int
	for _, k := range r.Bound {
		if looks != nil && k.Key == looks.Key {
			several++
		}
	}
	if looks == nil || several > 1 {
		c.Report(diag.NeverHolds, r.Pos, r.Label()+" never holds: its conditions contradict each other", "")
		return
	}
	hint := "look at the `enum`, the bounds and the `pattern` of the parameter"
	if len(looks.Spec.Values) > 0 && isHome(looks.Spec.Values[0]) {
		hint = "it is not certain where `~` leads: write a path from the root of the project, or an absolute one"
	}
	c.Report(diag.NeverHolds, looks.Pos, fmt.Sprintf("%s never holds: no value that the schema allows for `%s` satisfies `%s`", r.Label(), looks.Arg, looks.Text()), hint)
}

// shadowed warns about a rule that only lists of mixed values reach.
func (c *prover) shadowed(l *ruleList, r *symbolic.Rule, f *analysis.Finding) {
	by, k := pickRules(l.rules, f.Mixed), r.Bound[0]
	c.Report(diag.ShadowedMostly, r.Pos, fmt.Sprintf("only lists of mixed values reach %s: where every element of `%s` satisfies `%s`, %s already decides",
		r.Label(), k.Arg, k.Text(), ruleNames(by)),
		fmt.Sprintf("write it above %s", by[0].Label()), relatedRules(by, 16)...)
}

// conditionAt returns the rule's condition on a variable of the translation, nil if it has
// none.
func conditionAt(r *symbolic.Rule, t *symbolic.Translation, variable int) *symbolic.Condition {
	if variable < 0 {
		return nil
	}
	for _, k := range r.Bound {
		if t.Variable(k) == variable {
			return k
		}
	}
	return nil
}

func pickRules(rules []*symbolic.Rule, indexes []int) []*symbolic.Rule {
	var list []*symbolic.Rule
	for _, i := range indexes {
		list = append(list, rules[i])
	}
	return list
}

// ruleNames lists rules for a message, not all of very many.
func ruleNames(rules []*symbolic.Rule) string {
	const limit = 4
	var text string
	for i, r := range rules {
		switch {
		case i == limit:
			return fmt.Sprintf("%s and %d more", text, len(rules)-limit)
		case i == 0:
		case i == len(rules)-1:
			text += " and "
		default:
			text += ", "
		}
		text += r.Label()
	}
	return text
}

func relatedRules(rules []*symbolic.Rule, limit int) []diag.Related {
	var list []diag.Related
	for _, r := range rules[:min(limit, len(rules))] {
		list = append(list, diag.Related{Range: r.Pos, Message: r.Label() + " is here"})
	}
	return list
}
