package analysis

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Policy is one of two policies that are compared: a list of which the first match
// decides, and guards in addition, of which the strictest that matches counts if it is
// at least as strict as the list.
type Policy struct {
	Rules  []Rule
	Modes  []int // of the rules, smaller is stricter
	End    int   // the mode where no rule matches
	Guards []Rule
	// GuardModes are those of the guards. One guard may be several rules here, one for
	// each variable it looks at.
	GuardModes []int
	// Edits number the edits that the rules and guards belong to, -1 for those that both
	// policies have, in the same order; nil if that is not known. Then every pair of
	// deciders is a case of its own, otherwise every edit with the two modes is one.
	Edits, GuardEdits []int
	// EndEdited: the two policies answer differently where no rule matches.
	EndEdited bool
}

// Cell is a set of calls in which one rule or guard decides in the old policy, and
// another one in the new, with another mode.
type Cell struct {
	Old, New Decider
	// Witness is a call of the cell.
	Witness []Choice
	// Edit is the edit that the cell shows, -1 if edits are not known.
	Edit int
}

// Decider decides a call: a guard, a rule, or the end of the list.
type Decider struct {
	Guard bool
	Index int // -1: no rule matched
	Mode  int
}

// Comparison is the result of Compare.
type Comparison struct {
	Cells []Cell
	// Complete: there are no other cells, since each one that is not listed was
	// proved to be empty.
	Complete bool
	// Pairs is how many pairs of deciders were looked at.
	Pairs int
}

// outcome is one way in which a policy decides.
type outcome struct {
	Decider
	rule, guard           *Rule
	ruleLimit, guardLimit int32
	edit                  int // that it belongs to, none if both policies have it
	guardEdited           bool
}

// Compare lists the cells in which two policies over the same variables answer with
// different modes. refute may report that a witness shows no change; the cell is
// then searched no further and counts as not decided. It may be nil.
func Compare(list List, before, after *Policy, b Budget, refute func(Cell) bool) Comparison {
	p, q := sorted(before), sorted(after)
	s := newSolver(list, b, p.Rules, p.Guards, q.Rules, q.Guards)
	for _, l := range s.lists {
		for i := range l.rules {
			l.add(list.Variables, int32(i))
		}
	}
	s.thorough = len(before.Rules)+len(after.Rules) <= thoroughRules
	out := Comparison{Complete: true}
	c := comparison{solver: s, refute: refute, out: &out, pairs: s.budget.Cells, known: make(map[cellKey]bool),
		twins: [2][]int{twinsOf(p.Rules, q.Rules), twinsOf(q.Rules, p.Rules)}}
	olds, news := p.outcomes(), q.outcomes()
	if before.Edits == nil || after.Edits == nil {
		for i := range olds {
			for j := range news {
				c.pair(&olds[i], &news[j], none)
			}
		}
		return out
	}
	// Where the verdicts differ, a rule or a guard that only one policy has decides in one
	// of them, or decides its list below a guard: of the others the same ones match.
	every, edited := make([]int, len(news)), []int(nil)
	for j := range news {
		every[j] = j
		if news[j].edit != none {
			edited = append(edited, j)
		}
	}
	for i := range olds {
		with := edited
		if olds[i].edit != none {
			with = every
		}
		for _, j := range with {
			if x, y := &olds[i], &news[j]; !blocked(x, y) {
				c.pair(x, y, editOf(x, y))
			}
		}
		if c.pairs < 0 {
			break
		}
	}
	return out
}

// editOf is the edit of the stricter of two outcomes, or of the other one.
func editOf(x, y *outcome) int {
	if y.Mode < x.Mode {
		x, y = y, x
	}
	if x.edit != none {
		return x.edit
	}
	return y.edit
}

// blocked reports that the stricter of two outcomes is that of a guard which both policies
// have: it would hold in the other one too.
func blocked(x, y *outcome) bool {
	if y.Mode < x.Mode {
		x = y
	}
	return x.guard != nil && !x.guardEdited
}

// comparison is the state of [Compare].
type comparison struct {
	*solver
	refute func(Cell) bool
	out    *Comparison
	pairs  int
	known  map[cellKey]bool
	twins  [2][]int
}

// cellKey identifies a cell, so that each is listed once.
type cellKey struct {
	old, new Decider // without known edits
	edit     int
	from, to int
}

// pair searches a call that one outcome of the old policy and one of the new decide.
func (c *comparison) pair(x, y *outcome, edit int) {
	if x.Mode == y.Mode || c.pairs < 0 {
		return
	}
	key := cellKey{edit: edit, from: x.Mode, to: y.Mode}
	if edit == none {
		key = cellKey{old: x.Decider, new: y.Decider, edit: none}
	}
	if c.known[key] || hidden(x, y, &c.twins) || c.disjoint(x.rule, y.rule) || c.disjoint(x.rule, y.guard) || c.disjoint(x.guard, y.rule) {
		return
	}
	if c.pairs--; c.pairs < 0 {
		c.out.Complete = false
		return
	}
	c.out.Pairs++
	one := &cell{solver: c.solver, rules: []*Rule{x.rule, x.guard, y.rule, y.guard},
		limits: []int32{x.ruleLimit, x.guardLimit, y.ruleLimit, y.guardLimit}}
	switch f := one.solve(); f.Answer {
	case regular.Yes:
		found := Cell{Old: x.Decider, New: y.Decider, Witness: f.Witness, Edit: edit}
		if c.refute != nil && c.refute(found) {
			c.out.Complete = false
			return
		}
		c.known[key] = true
		c.out.Cells = append(c.out.Cells, found)
	case regular.NotProven:
		c.out.Complete = false
	}
}

// thoroughRules is up to how many rules the shortest witness is searched for every
// cell, instead of the first one.
const thoroughRules = 400

// sorted brings the guards into the order in which they decide.
func sorted(p *Policy) *orderedPolicy {
	o := &orderedPolicy{Policy: *p, names: make([]int, len(p.Guards))}
	for i := range o.names {
		o.names[i] = i
	}
	slices.SortStableFunc(o.names, func(a, b int) int { return cmp.Compare(p.GuardModes[a], p.GuardModes[b]) })
	o.Guards, o.GuardModes = make([]Rule, len(p.Guards)), make([]int, len(p.Guards))
	for i, n := range o.names {
		o.Guards[i], o.GuardModes[i] = p.Guards[n], p.GuardModes[n]
	}
	return o
}

type orderedPolicy struct {
	Policy
	names []int // of the guards, as the caller counts them
}

// outcomes lists all ways in which a policy decides.
func (o *orderedPolicy) outcomes() []outcome {
	var list []outcome
	weakest := o.End
	for i := range o.Rules {
		weakest = max(weakest, o.Modes[i])
	}
	strictest := o.End
	for i, m := range o.Modes {
		if !o.Rules[i].Skip {
			strictest = min(strictest, m)
		}
	}
	for g := range o.Guards {
		out := outcome{Decider: Decider{true, o.names[g], o.GuardModes[g]}, guard: &o.Guards[g], guardLimit: int32(g), edit: o.guardEdit(g)}
		out.guardEdited = out.edit != none
		switch {
		case out.Mode <= strictest: // whatever the list decides
			list = append(list, out)
		case out.Mode <= weakest:
			for i := -1; i < len(o.Rules); i++ {
				if with := o.withList(out, i); with.ruleMode(o, i) >= out.Mode && !o.skipped(i) {
					list = append(list, with)
				}
			}
		}
	}
	for i := -1; i < len(o.Rules); i++ {
		if o.skipped(i) {
			continue
		}
		out := o.withList(outcome{edit: none}, i)
		out.Decider = Decider{Index: i, Mode: out.ruleMode(o, i)}
		for _, m := range o.GuardModes {
			if m <= out.Mode {
				out.guardLimit++
			}
		}
		list = append(list, out)
	}
	return list
}

func (o *orderedPolicy) skipped(i int) bool { return i >= 0 && o.Rules[i].Skip }

// withList adds the decider of the list: a rule, or its end.
func (o *orderedPolicy) withList(out outcome, i int) outcome {
	out.ruleLimit = int32(len(o.Rules))
	if i >= 0 {
		out.rule, out.ruleLimit = &o.Rules[i], int32(i)
	}
	if out.edit == none {
		out.edit = o.ruleEdit(i)
	}
	return out
}

// ruleEdit is the edit of a rule, or of the end of the list.
func (o *orderedPolicy) ruleEdit(i int) int {
	switch {
	case i < 0 && o.EndEdited:
		return endEdit
	case i < 0 || o.Edits == nil:
		return none
	}
	return o.Edits[i]
}

func (o *orderedPolicy) guardEdit(g int) int {
	if o.GuardEdits == nil {
		return none
	}
	return o.GuardEdits[o.names[g]]
}

// endEdit is the edit of the mode where no rule matches.
const endEdit = -2

func (outcome) ruleMode(o *orderedPolicy, i int) int {
	if i < 0 {
		return o.End
	}
	return o.Modes[i]
}

// twinsOf finds for every rule the first one of another list with the same
// conditions, -1 if there is none.
func twinsOf(rules, others []Rule) []int {
	first := make(map[string]int)
	for i := range others {
		if key := others[i].Key; key != "" && !others[i].Skip {
			if _, ok := first[key]; !ok {
				first[key] = i
			}
		}
	}
	twins := make([]int, len(rules))
	for i := range rules {
		twins[i] = none
		if n, ok := first[rules[i].Key]; ok && rules[i].Key != "" {
			twins[i] = n
		}
	}
	return twins
}

// hidden reports that one of the two rules is further up in the other list,
// which then decides itself: the common proof where two policies have much in common.
func hidden(x, y *outcome, twins *[2][]int) bool {
	return x.rule != nil && above(twins[0][x.ruleLimit], y) || y.rule != nil && above(twins[1][y.ruleLimit], x)
}

// above reports that a rule is above the decider.
func above(rule int, o *outcome) bool { return rule != none && int32(rule) < o.ruleLimit }

// disjoint reports rules that surely have no call in common: both want a literal of one
// variable with one leaf, and none of the first is one of the second.
func (c *comparison) disjoint(a, b *Rule) bool {
	if a == nil || b == nil {
		return false
	}
	for i := range a.Conditions {
		for j := range b.Conditions {
			if x, y := &a.Conditions[i], &b.Conditions[j]; x.Variable == y.Variable && apartOn(&c.variables[x.Variable], x, y) {
				return true
			}
		}
	}
	return false
}

func apartOn(v *Variable, x, y *Condition) bool {
	if v.Several || v.Default != nil || v.Null || x.Subject != Leaves || y.Subject != Leaves {
		return false
	}
	if !x.listed(y) {
		x, y = y, x
	}
	return x.listed(y) && !slices.ContainsFunc(x.Named.Texts.Exact, func(text string) bool {
		value := Value{Kind: Text, Text: text}
		return y.has(value, v.Domain.odd(value))
	})
}

// listed reports that only some texts satisfy a condition, as another one compares them.
func (k *Condition) listed(other *Condition) bool {
	s, t := k.Named, &k.Named.Texts
	return !s.Every && t.literal() && len(t.Below) == 0 && len(t.Exact) > 0 && len(t.Exact) <= manyLiterals &&
		len(s.Intervals)+len(s.Objects) == 0 && !s.True && !s.False && (!k.Set.Texts.Folded || other.Set.Texts.Folded)
}
