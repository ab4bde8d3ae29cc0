package policy

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
)

// Check finds mistakes that Parse cannot see: rules that do not fit the types of parameters,
// rules that no arguments reach, and traps (D25-15, D25-30 to D25-39). A policy with mistakes
// is checked too, less thoroughly.
//
// Root and Home of the options do not count: a file that is accepted is accepted in every
// project and for every user, and its examples do not depend on where it is read.
func Check(p *syntax.File, o Options) diag.List {
	o.Root, o.Home = "", ""
	return newChecker(p, o).check()
}

func newChecker(p *syntax.File, o Options) *checker {
	c := &checker{policy: p, options: o, definitions: o.Definitions, memory: &symbolic.Memory{}}
	c.env = p.Environment(match.Env{Root: o.Root, Home: o.Home})
	return c
}

func (c *checker) check() diag.List {
	if c.options.Untrusted {
		c.trust()
	}
	c.guards()
	c.tools()
	c.defaults()
	c.lintSessions()
	c.lintReadings()
	c.lintScopes()
	if c.options.Strict || c.policy.Gate.Strict {
		c.diags.Strict()
	}
	c.diags.Sort()
	return c.diags
}

type checker struct {
	policy      *syntax.File
	options     Options
	definitions []toolDefinition
	unproved    bool // do not search for rules that nothing reaches
	reached     func(Reached)
	welcome     func(schema.Annotation, analysis.Value) bool // see [symbolic.Translation]
	env         match.Env
	known       []*checkedTool
	scratch     match.Value // of all conditions
	memory      *symbolic.Memory
	diags       diag.List
}

func (c *checker) report(code diag.Code, at diag.Range, message, hint string, related ...diag.Related) {
	c.diags.Add(diag.Diagnostic{
		Code: code, File: c.policy.Name, Range: at, Message: message, Hint: hint, Related: related,
	})
}

// trust holds a project file to rules (S3).
func (c *checker) trust() {
	for _, e := range c.policy.OperatorOnly() {
		c.report(diag.Untrusted, e.KeyRange, "a project file that nobody trusted cannot have `"+tomltree.Key(e.Key)+"`",
			"move it to your own file, or trust these bytes with stopgate trust")
	}
}

// checkedList is a rule list as one tool sees it.
type checkedList struct {
	*syntax.RuleList
	kind  syntax.ListKind
	owner *syntax.ToolTable
	// shared: the list belongs to a table for many tools, whose name is a glob or "*".
	shared bool
	tool   *checkedTool
	rules  []*symbolic.Rule // those that apply and fit

	binding *eval.Binding // see factless
	bound   []*syntax.Rule
}

// list checks one list for one tool.
func (c *checker) list(l *checkedList) {
	for _, r := range l.Rules {
		if bound, ok := c.bind(l, r); ok {
			l.rules = append(l.rules, bound)
			if !l.shared || l.tool.name == "" {
				c.examples(r.Label(), r, l.tool.schema)
			}
		}
	}
	c.catchAll(l)
	for _, r := range l.rules {
		c.lintRule(l, r)
	}
	if l.kind == syntax.RunList {
		c.lintTargets(l)
	}
	c.lintAbsent(l)
	// A list for many tools is analysed once, with the schema of its own table: a rule that no
	// call of one tool reaches may be meant for another.
	if !c.unproved && !l.Incomplete && (!l.shared || l.tool.name == "") {
		c.reachability(l)
	}
}

// catchAll warns about a list that ends without a rule for everything (D25-11).
func (c *checker) catchAll(l *checkedList) {
	if l.Incomplete {
		return
	}
	at := l.Pos
	for _, r := range l.Rules {
		if len(r.Conditions) == 0 && r.When == nil {
			return // later rules are reported as unreachable
		}
		at = r.Pos
	}
	c.report(diag.NoCatchAll, at, "what no rule matches is asked", "say so with a last rule: `{ mode = \"ask\" },`")
}

// bind fits a rule to the tool's schema.
func (c *checker) bind(l *checkedList, r *syntax.Rule) (*symbolic.Rule, bool) {
	bound, ok := &symbolic.Rule{Rule: r}, true
	for i := range r.Conditions {
		k := &r.Conditions[i]
		reach := l.tool.schema.Reach(k.Arg)
		if reach.Missing >= 0 {
			c.missing(l, r, k, reach)
			ok = false
			continue
		}
		condition, fits := c.condition(l, r, k, reach)
		ok = ok && fits
		bound.Bound = append(bound.Bound, condition)
	}
	c.ignoresExist(l, r)
	return bound, ok && c.oneCommand(bound)
}

// oneCommand reports a rule with conditions on two command lines. Each command is evaluated by
// itself, while the other parameter has no value, so the conditions never hold together (K29).
func (c *checker) oneCommand(r *symbolic.Rule) bool {
	var first *symbolic.Condition
	for _, k := range r.Bound {
		switch {
		case !k.IsCommand():
		case first == nil:
			first = k
		case k.Key != first.Key:
			c.report(diag.NeverHolds, k.Pos, fmt.Sprintf("%s never holds: each command is judged by itself, so no rule sees `%s` and `%s` at once", r.Label(), first.Arg, k.Arg),
				"write a rule for each of them", diag.Related{Range: first.Pos, Message: "the other one is here"})
			return false
		}
	}
	return true
}

// maxNamed is how many parameters a hint lists.
const maxNamed = 12

// missing reports a pointer that resolves to nothing. A rule for many tools is skipped where a
// tool lacks its parameter (D25-47, Q5), unless the rule restricts and calls may bring
// parameters that no schema declares.
func (c *checker) missing(l *checkedList, r *syntax.Rule, k *syntax.Condition, reach schema.Reach) {
	arg, hint := k.Arg.String(), ""
	if reach.Suggestion != "" {
		near := slices.Clone(k.Arg)
		near[reach.Missing] = reach.Suggestion
		hint = "did you mean `" + tomltree.Quote(near.String()) + "`?"
	} else if n := len(reach.Names); n > 0 && n <= maxNamed && !l.shared {
		hint = "possible: " + diag.Words(reach.Names)
	}
	if !l.shared {
		c.report(diag.NoSuchParameter, k.SegmentRange(reach.Missing),
			fmt.Sprintf("%s, `%s` of %s: %s", r.Label(), arg, l.tool.label(), reach.Problem), hint)
		return
	}
	code, effect := diag.DefaultSkipped, "is skipped for %s: no `%s` there"
	switch {
	case r.Mode.Permissive():
		code = diag.DefaultUseless
	case !eval.MayHoldUndeclared(r, k) || c.policy.UnknownParams(l.tool.tables) != syntax.ParamAllow:
	case reach.Suggestion == "":
		return
	default: // probably a misspelling
		effect = "applies to calls of %s only if they bring `%s`, which no schema declares"
	}
	c.report(code, r.Pos, r.Label()+" of `"+tomltree.Key(l.owner.Name)+"` "+fmt.Sprintf(effect, l.tool.label(), arg), hint)
}
