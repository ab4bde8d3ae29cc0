package policy

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/schema"
)

// ruleGroup holds the earlier rules with one condition on the same leaves. Its
// indexes find those that can have to do with a condition, so that a list of many
// thousand literals is judged in linear time; they only leave out what surely has
// nothing to do with it.
type ruleGroup struct {
	entries  []*groupEntry
	literals map[string][]int // folded canonical literal -> entries
	prefixes map[string][]int // folded prefix without its trailing separator -> entries
	numbers  []int            // entries with numbers or ranges
	ranges   []int            // those with ranges
	rest     []int            // globs, patterns, present, ...
	every    bool             // an entry that every value satisfies
	partial  bool             // more entries than are compared one by one
}

type groupEntry struct {
	rule      *checkedRule
	condition *checkedCondition
	numbers   []interval // that satisfy the condition
}

// compared is how many entries without an index are held against a condition. A
// list that has more gets the answer "not proven".
const compared = 500

func newRuleGroup() *ruleGroup {
	return &ruleGroup{literals: make(map[string][]int), prefixes: make(map[string][]int)}
}

func (g *ruleGroup) pointer() string { return g.entries[0].condition.Arg.String() }

func (g *ruleGroup) add(r *checkedRule, k *checkedCondition) {
	n := len(g.entries)
	g.entries = append(g.entries, &groupEntry{r, k, intervals(k)})
	switch {
	case isFinite(k):
		numeric := false
		for _, lit := range k.Spec.Values {
			key := strings.ToLower(lit.JSON)
			g.literals[key] = append(g.literals[key], n)
			numeric = numeric || lit.Kind == match.LiteralNumber
		}
		if numeric {
			g.addNumber(n)
		}
	case k.Spec.Kind == match.Prefix:
		for _, lit := range k.Spec.Values {
			key := prefixKey(lit.Text)
			g.prefixes[key] = append(g.prefixes[key], n)
		}
	case isRange(k.Spec.Kind):
		g.ranges = append(g.ranges, n)
		g.addNumber(n)
	default:
		if g.every = g.every || everyValue(k); len(g.rest) < compared {
			g.rest = append(g.rest, n)
		} else {
			g.partial = true
		}
	}
	if len(g.ranges) > compared {
		g.ranges, g.partial = g.ranges[:compared], true
	}
}

func (g *ruleGroup) addNumber(n int) {
	if len(g.numbers) < compared {
		g.numbers = append(g.numbers, n)
	} else {
		g.partial = true
	}
}

// prefixKey folds a prefix; "src" and "src/" are one on paths (K20).
func prefixKey(text string) string { return strings.TrimRight(strings.ToLower(text), "/") }

// near returns the entries that may cover some of a condition's values, in the
// order of the list.
func (g *ruleGroup) near(k *checkedCondition) []*groupEntry {
	if everyValue(k) {
		return g.entries[:min(len(g.entries), compared)]
	}
	found := slices.Clone(g.rest)
	numeric := isRange(k.Spec.Kind)
	for _, lit := range k.Spec.Values {
		numeric = numeric || lit.Kind == match.LiteralNumber && !isFinite(k)
		if isFinite(k) {
			found = append(found, g.literals[strings.ToLower(lit.JSON)]...)
		}
		if lit.Kind == match.LiteralNumber && isFinite(k) {
			found = append(found, g.ranges...)
		}
		if lit.Kind == match.LiteralString {
			found = g.prefixesOf(found, lit.Text)
		}
	}
	if numeric {
		found = append(found, g.numbers...)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	entries := make([]*groupEntry, len(found))
	for i, n := range found {
		entries[i] = g.entries[n]
	}
	return entries
}

// prefixesOf adds the entries whose prefix may begin a text.
func (g *ruleGroup) prefixesOf(found []int, text string) []int {
	if len(g.prefixes) == 0 {
		return found
	}
	const longest = 4096
	text = strings.ToLower(text)
	for end := 0; end <= min(len(text), longest); end++ {
		if n, ok := g.prefixes[text[:end]]; ok {
			found = append(found, n...)
		}
	}
	return found
}

// judge applies the complete law on one pointer (THREATS 4.4). Entries of kind A
// fire as soon as one leaf is in their set, entries of kind P only if all are.
func (g *ruleGroup) judge(cover coverage, r *checkedRule, l *checkedCondition) finding {
	var near, anys, alls []*groupEntry
	for _, e := range g.near(l) {
		if !sameWhen(e.rule.Rule, r.Rule) {
			continue
		}
		near = append(near, e)
		if l.several && e.condition.all {
			alls = append(alls, e)
		} else {
			anys = append(anys, e)
		}
	}
	if len(near) == 0 {
		return finding{}
	}
	if covered, by := coveredBy(cover, l, anys); covered {
		if !l.several && g.defaultPasses(r, l) {
			return finding{}
		}
		return finding{unreachable: true, by: rulesOf(by)}
	}
	var mixed finding
	for _, p := range alls {
		with := append(slices.Clone(anys), p)
		covered, by := coveredBy(cover, l, with)
		switch {
		case covered && l.all:
			return finding{unreachable: true, by: rulesOf(by)}
		case covered && !l.lacks && universal(l, append(g.firing(r), p)):
			return finding{unreachable: true, by: rulesOf(append(g.firing(r), p))}
		case covered && !mixed.mixed:
			mixed = finding{mixed: true, by: rulesOf(by)}
		}
	}
	if mixed.mixed {
		return mixed
	}
	if g.partial && !isFinite(l) {
		return finding{unknown: true, by: rulesOf(near[:1])}
	}
	if unknown := undecided(cover, l, near); unknown != nil {
		return finding{unknown: true, by: rulesOf([]*groupEntry{unknown})}
	}
	return finding{}
}

// firing lists the entries that fire as soon as one of several leaves is in their
// set.
func (g *ruleGroup) firing(r *checkedRule) []*groupEntry {
	return slices.DeleteFunc(slices.Clone(g.entries), func(e *groupEntry) bool {
		return e.condition.all || !sameWhen(e.rule.Rule, r.Rule)
	})
}

// defaultPasses reports whether the absence of the argument reaches the rule: its
// default satisfies the condition and no restrictive one above (THREATS 4.4, B9).
func (g *ruleGroup) defaultPasses(r *checkedRule, l *checkedCondition) bool {
	return slices.ContainsFunc(l.defaults(), func(lit match.Literal) bool {
		return !slices.ContainsFunc(g.entries, func(e *groupEntry) bool {
			return !e.rule.permissive() && sameWhen(e.rule.Rule, r.Rule) && holdsLiteral(e.condition, lit)
		})
	})
}

func rulesOf(entries []*groupEntry) []*checkedRule {
	var rules []*checkedRule
	for _, e := range entries {
		if !slices.Contains(rules, e.rule) {
			rules = append(rules, e.rule)
		}
	}
	return rules
}

// mayLack reports whether schema-valid arguments that have a leaf at the pointer
// may also have a branch without one: an absent member of an element, null, or an
// empty array beside another one (K3). Where the pointer has one leaf at most, it
// reports whether they may have none.
func mayLack(s *schema.Schema, reach schema.Reach) bool {
	if reach.Unknown || !reach.CrossesArray {
		return reach.Unknown || reach.Optional || slices.ContainsFunc(reach.Places, nullable)
	}
	pointer, err := jsonstream.ParsePointer(reach.Expanded)
	if err != nil {
		return true // cannot happen: the schema wrote it
	}
	at, arrays := s.Place(), 0
	for _, token := range pointer {
		if token == "*" && at.Types()&schema.Array != 0 {
			at = at.Items()
			if arrays++; arrays > 1 {
				return true
			}
		} else {
			required := slices.ContainsFunc(at.Properties(), func(d schema.Declared) bool { return d.Name == token && d.Required })
			if arrays > 0 && !required {
				return true
			}
			at = at.Member([]byte(token)).Place
		}
		if arrays > 0 && nullable(at) {
			return true
		}
	}
	return false
}

func nullable(p *schema.Place) bool { return p.Types()&schema.Null != 0 }

// exhausted reports whether the rules on these leaves leave no arguments to any
// rule below: the schema requires the one leaf, and every value of its type is in a
// set.
func (g *ruleGroup) exhausted() bool {
	k := g.entries[len(g.entries)-1].condition
	if !g.every && (len(g.entries) > compared || isFinite(k) && k.target.Type&schema.Boolean == 0 && len(g.ranges) < 2) {
		return false // single numbers fill gaps between ranges only
	}
	return !k.several && (!k.lacks || g.absenceMatches(k)) && universal(k, g.unconditional())
}

// absenceMatches reports whether calls without the argument do not get past the
// group either: it has a default, and restrictive rules take that for its value
// (B9).
func (g *ruleGroup) absenceMatches(k *checkedCondition) bool {
	var defaults []match.Literal
	for _, p := range k.reach.Places {
		if nullable(p) {
			return false
		}
		for _, v := range p.Defaults() {
			defaults = append(defaults, literalOf(v))
		}
	}
	passes := func(lit match.Literal) bool {
		return !slices.ContainsFunc(g.unconditional(), func(e *groupEntry) bool {
			return !e.rule.permissive() && holdsLiteral(e.condition, lit)
		})
	}
	return !k.reach.Unknown && len(defaults) > 0 && !slices.ContainsFunc(defaults, passes)
}

// unconditional are the entries that do not depend on facts of the call.
func (g *ruleGroup) unconditional() []*groupEntry {
	return slices.DeleteFunc(slices.Clone(g.entries), func(e *groupEntry) bool { return e.rule.When != nil })
}

func (g *ruleGroup) coveringAll() []*checkedRule {
	return rulesOf(g.unconditional())
}
