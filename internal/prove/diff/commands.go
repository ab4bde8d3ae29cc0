package diff

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// No automaton describes the command lines that a rule matches. The effect of an edit of such a
// rule is bounded by the modes of the rules that decide instead of it, and shown by calls, made
// from the values that the edit adds and removes, which both programs judge.

// toolEdits are the edits that concern one list of a tool.
type toolEdits struct {
	rules, guards [2][]int // of the bound rules and guards of both files, as in analysis.Policy
	numbers       []int    // of the edits, each once
	bound         [2]*boundPolicy
	all           []*Edit
	pairs         map[int][][2]*syntax.Rule // that an edit covers
	shown         map[int]*directions
	may           map[int]directions
	first         map[*symbolic.Rule]bool                     // the rules of the first file
	asked         int                                         // calls
	movedBy       map[*symbolic.Condition][]condition.Literal // see moved
}

// editsOf finds the edits of bound rules.
func (c *comparer) editsOf(bound [2]*boundPolicy) *toolEdits {
	e := &toolEdits{bound: bound, pairs: c.edits.pairs, shown: make(map[int]*directions), may: make(map[int]directions),
		movedBy: make(map[*symbolic.Condition][]condition.Literal), first: make(map[*symbolic.Rule]bool, len(bound[0].rules))}
	for _, r := range bound[0].rules {
		e.first[r] = true
	}
	aligned := c.edits.rulesOf(bound[0].list, bound[1].list)
	e.all = c.edits.list
	for i, b := range bound {
		rules, guards := aligned.old, c.edits.guards.old
		if i == 1 {
			rules, guards = aligned.new, c.edits.guards.new
		}
		e.rules[i], e.guards[i] = []int{}, []int{}
		for _, r := range b.rules {
			e.rules[i] = append(e.rules[i], rules[r.Index])
			e.note(rules[r.Index])
		}
		for _, g := range b.origin {
			e.guards[i] = append(e.guards[i], guards[g.Index])
			e.note(guards[g.Index])
		}
		if b.commands && b.written != nil {
			for _, g := range b.written { // they look into commands too
				e.note(guards[g.Index])
			}
		}
	}
	return e
}

func (e *toolEdits) note(n int) {
	if n >= 0 && e.shown[n] == nil {
		e.shown[n] = &directions{}
		e.numbers = append(e.numbers, n)
	}
}

// found notes the direction of a change.
func (e *toolEdits) found(change *Change) {
	if d := e.shown[change.Edit]; d != nil {
		d.allow(change.From, change.To)
	}
}

// onlyCommands reports that all edited rules and guards look at commands, and at paths in
// them.
func (e *toolEdits) onlyCommands() bool {
	for i, b := range e.bound {
		for j, r := range b.rules {
			if e.rules[i][j] >= 0 && !slices.ContainsFunc(r.Bound, (*symbolic.Condition).IsCommand) {
				return false
			}
		}
		for j, g := range b.guards {
			if e.guards[i][j] >= 0 && !slices.ContainsFunc(g.Bound, (*symbolic.Condition).IsCommand) {
				return false
			}
		}
	}
	return true
}

// attributed finds the edit of the rule that decided the witness of a change, -1 if there is none.
func (c *comparer) attributed(change *Change) int {
	if n := c.edits.at(change.Old, false); n >= 0 {
		return n
	}
	return c.edits.at(change.New, true)
}

// maxAsked is how many calls both programs are asked about for one list of a tool.
const maxAsked = 2_000

// sampled asks both programs about calls that the edits' literals suggest, until every edit
// has shown every direction that it may have, or maxAsked calls were asked about.
func (c *listComparison) sampled() {
	try := func(r *symbolic.Rule, literals func(*symbolic.Condition) []condition.Literal) {
		for witness := range c.t.Tries(r, literals) {
			if c.e.enough() {
				return
			}
			args, ok := c.t.Document(witness)
			if !ok {
				continue
			}
			c.show(witness, args)
		}
	}
	all := func(k *symbolic.Condition) []condition.Literal { return k.Spec.Values }
	for i, b := range c.e.bound { // the values that one side lacks show most edits, with the fewest calls
		for j, r := range b.rules {
			if n := c.e.rules[i][j]; n >= 0 {
				try(r, func(k *symbolic.Condition) []condition.Literal { return c.e.changed(n, k) })
			}
		}
	}
	for i, b := range c.e.bound {
		for j, r := range b.rules {
			if n := c.e.rules[i][j]; n >= 0 {
				c.sampledRule(i, r, n)
			}
		}
		for j, g := range b.guards {
			if n := c.e.guards[i][j]; n >= 0 {
				try(g, func(k *symbolic.Condition) []condition.Literal { return c.e.values(n, b.origin[j], k.Spec.Values) })
			}
		}
		if b.commands {
			c.sampledFiles(i)
			c.sampledLines(b)
		}
	}
	for _, b := range c.e.bound {
		for _, r := range b.rules {
			if try(r, all); c.e.enough() {
				return
			}
		}
	}
}

// maxWritten is how many lines are asked about for one condition.
const maxWritten = 1_000

// sampledRule tries lines that are generated from the usages and patterns of an edited rule,
// commands that other rules permit combined with matches of its patterns, and commands on
// files that its conditions name.
func (c *listComparison) sampledRule(side int, r *symbolic.Rule, n int) {
	rules := c.e.bound[side].rules
	for _, k := range r.Bound {
		if k.IsCommand() && (k.Spec.Kind == condition.Usage || k.Spec.Kind == condition.Pattern) && c.e.missing(n) != (directions{}) {
			lines := distinctTexts(c.e.linesFor(side, n, r, k))
			c.sampledTexts(n, k, slices.Values(lines[:min(len(lines), maxWritten)]))
		}
	}
	for _, k := range r.Bound {
		c.sampledTexts(n, k, slices.Values(c.t.Crossed(k, c.e.changed(n, k), rules)))
	}
	for _, k := range r.Bound {
		c.sampledTexts(n, k, c.t.Shared(k, c.e.changed(n, k), rules))
	}
}

// sampledTexts tries values of a condition until its edit has shown every possible direction.
func (c *listComparison) sampledTexts(n int, k *symbolic.Condition, texts iter.Seq[string]) {
	for text := range texts {
		if c.e.missing(n) == (directions{}) || c.e.enough() {
			return
		}
		if args, ok := c.t.Document(c.t.With(c.t.Variable(k), text)); ok {
			c.show(nil, args)
		}
	}
}

// sampledFiles asks about commands that touch the files of edited guards on paths.
func (c *listComparison) sampledFiles(side int) {
	var texts []string
	for _, g := range c.e.bound[side].written {
		for _, n := range c.e.numbers {
			if !c.e.concerns(n, g) || len(g.Conditions) != 1 || g.Conditions[0].On != "path" {
				continue
			}
			for _, lit := range c.e.values(n, g, g.Conditions[0].Spec.Values) {
				texts = append(texts, symbolic.Touching(&g.Conditions[0].Spec, lit.Text)...)
				for _, file := range symbolic.Guesses(&g.Conditions[0].Spec, lit.Text, 4) {
					texts = append(texts, "cat "+file, "cat src/"+strings.TrimPrefix(file, "/"), "rm "+file)
				}
			}
		}
	}
	for _, text := range texts {
		if c.e.enough() {
			return
		}
		args, ok := c.withCommand(c.e.bound[side], text)
		if !ok {
			return
		}
		c.show(nil, args)
	}
}

// sampledLines asks about lines that cannot be read with certainty: they are asked about
// where some rule looks at commands.
func (c *listComparison) sampledLines(b *boundPolicy) {
	for _, text := range []string{"x", "$X", `eval "$X"`, "x < $X", "x > $X", "$(x)", "x | y", "cat *", "ls -R", "rg x"} {
		if args, ok := c.withCommand(b, text); ok && !c.e.enough() {
			c.show(nil, args)
		}
	}
}

// withCommand writes arguments with a command line, where a rule looks at one or else where the
// schema has one.
func (c *listComparison) withCommand(b *boundPolicy, text string) ([]byte, bool) {
	for _, r := range b.rules {
		for _, k := range r.Bound {
			if k.IsCommand() {
				return c.t.Document(c.t.With(c.t.Variable(k), text))
			}
		}
	}
	for _, d := range c.t.Schema.Location().Properties() {
		if d.Location.Seen()&schema.String == 0 || !d.Location.Has(schema.Command) || d.Location.Types()&schema.Array != 0 {
			continue
		}
		if args, ok := c.t.Document(nil); ok {
			return withMember(args, d.Name, string(jsonstream.AppendQuote(nil, text)))
		}
	}
	return nil, false
}

// show asks both programs about a call, and adds the change that it shows, if there is one.
func (c *listComparison) show(witness []analysis.Choice, args []byte) bool {
	c.e.asked++
	change, verdicts, differs := c.ask(c.tool, c.kind, c.t, witness, args)
	if !differs {
		return false
	}
	change.decidedBy(c.e.bound, verdicts)
	change.Edit = c.attributed(&change)
	if change.Edit < 0 && len(c.e.numbers) == 1 {
		change.Edit = c.e.numbers[0]
	}
	c.add(change)
	c.e.found(&change)
	return true
}

// changed are the values of a condition that the other side of an edit lacks. They are all
// values if no value was edited, and none if those of another condition or of the other side were.
func (e *toolEdits) changed(n int, k *symbolic.Condition) []condition.Literal {
	return e.values(n, k.Rule, k.Spec.Values)
}

// values are those of a rule's condition, as [toolEdits.changed] lists them.
func (e *toolEdits) values(n int, r *syntax.Rule, values []condition.Literal) []condition.Literal {
	var others []condition.Literal
	paired := false
	for _, pair := range e.pairs[n] {
		other := pair[0]
		if other == r {
			other = pair[1]
		} else if pair[1] != r {
			continue
		}
		if other != nil {
			others, paired = append(others, valuesOf(other)...), true
		}
	}
	own := slices.DeleteFunc(slices.Clone(values), func(lit condition.Literal) bool { return contains(others, []condition.Literal{lit}) })
	if len(own) > 0 {
		return own
	}
	if all := valuesOf(r); paired && !(contains(all, others) && contains(others, all)) {
		return nil
	}
	return values
}

// valuesOf are the values of all conditions of a rule.
func valuesOf(r *syntax.Rule) (list []condition.Literal) {
	for i := range r.Conditions {
		list = append(list, r.Conditions[i].Spec.Values...)
	}
	return list
}

// refuses reports whether an edit touches a rule that skips or denies, or is above a rule of
// the list that does: only then can it change which of two refusals is met first.
func (e *toolEdits) refuses() bool {
	for i, b := range e.bound {
		edited := false
		for j, r := range b.rules {
			edited = edited || e.rules[i][j] >= 0
			if edited && (r.Mode == stopgate.Skip || r.Mode == stopgate.Deny) {
				return true
			}
		}
		for j, g := range b.guards {
			if e.guards[i][j] >= 0 && (g.Mode == stopgate.Skip || g.Mode == stopgate.Deny) {
				return true
			}
		}
	}
	return false
}

// settled reports that every edit has shown every direction that it may have.
func (e *toolEdits) settled() bool {
	return !slices.ContainsFunc(e.numbers, func(n int) bool { return e.missing(n) != directions{} })
}

// enough reports that no further calls are worth asking about.
func (e *toolEdits) enough() bool { return e.asked >= maxAsked || e.settled() }

// missing are the directions that an edit may have and that no call shows.
func (e *toolEdits) missing(n int) directions {
	may, ok := e.may[n]
	if !ok {
		may = e.possible(n)
		e.may[n] = may
	}
	shown := e.shown[n]
	return directions{may.loosened && !shown.loosened, may.tightened && !shown.tightened}
}

// undecided adds a note for every direction of an edit that no call shows.
func (c *listComparison) undecided() {
	for _, n := range c.e.numbers {
		missing, name := c.e.missing(n), c.edits.list[n].Name
		switch {
		case missing.loosened && missing.tightened:
			c.open(c.tool, fmt.Sprintf("whether the edit of %s changes anything was not decided", name))
		case missing.loosened:
			c.open(c.tool, fmt.Sprintf("whether the edit of %s loosens anything was not decided", name))
		case missing.tightened:
			c.open(c.tool, fmt.Sprintf("whether the edit of %s tightens anything was not decided", name))
		}
	}
}
