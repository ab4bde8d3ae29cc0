package gen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/testkit/naive"
	"github.com/stopgate/stopgate/internal/testkit/naiveflow"
)

// says are conditions on the words of the person.
var says = []naiveflow.Says{{Pattern: `(?i)\bdelete\b`}, {Pattern: `(?i)\bpay\b`}, {Pattern: `(?i)\bdelete\b`, Anywhere: true}}

// rules draws the rules and guards of the tool.
func (c *FlowCase) rules(r *rand.Rand, o FlowOptions, l *naive.Layer) {
	if o.Restricts {
		k := c.condition(r, o, false)
		k.Kind, k.Tokens, k.Ignores = "from", 0, false
		k.Values = c.names(r, o, "from", false)
		l.Rules = []naive.Rule{{All: []naive.Cond{k}, Mode: "deny"}, {Mode: "unattended"}}
		return
	}
	modes := make([]string, 1+r.IntN(4))
	for i := range modes {
		modes[i] = pick(r, []string{"deny", "skip", "ask", "unattended", "unattended"})
		if o.Sorted {
			modes[i] = pick(r, []string{"deny", "skip", "unattended", "unattended"})
		}
	}
	if o.Sorted {
		order := []string{"deny", "skip", "unattended"}
		slices.SortFunc(modes, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	}
	for _, m := range modes {
		l.Rules = addRule(l.Rules, c.rule(r, o, m))
	}
	if !o.Sorted && r.IntN(3) == 0 {
		l.Rules = append(l.Rules, naive.Rule{Mode: pick(r, []string{"deny", "ask", "unattended"})})
	}
	for range r.IntN(5) / 3 {
		k := c.condition(r, o, false)
		if r.IntN(2) == 0 {
			k.Arg, k.On, k.Relation, k.Segments = nil, "string", 0, false
		}
		g := naive.Rule{All: []naive.Cond{k}, Mode: pick(r, []string{"deny", "ask"})}
		if o.Sorted {
			g.Mode = "deny"
		}
		if r.IntN(3) == 0 {
			effect := r.IntN(3) > 0
			g.When = &naive.When{Effect: &effect}
		}
		l.Guards = addRule(l.Guards, g)
	}
}

func (c *FlowCase) rule(r *rand.Rand, o FlowOptions, mode string) naive.Rule {
	k := naive.Rule{Mode: mode}
	for range 1 + r.IntN(5)/3 + r.IntN(6)/5 {
		k.All = append(k.All, c.condition(r, o, mode == "unattended"))
	}
	from := 0
	for _, one := range k.All {
		if one.Kind == "from" {
			from++
		}
	}
	k.SameText = from > 1 && r.IntN(2) == 0
	switch {
	case mode == "unattended" && r.IntN(5) == 0:
		s := pick(r, says)
		k.When = &naive.When{Says: &s}
	case r.IntN(10) == 0:
		effect := r.IntN(2) == 0
		k.When = &naive.When{Effect: &effect}
	}
	return k
}

// condition draws a condition, mostly one on an origin.
func (c *FlowCase) condition(r *rand.Rand, o FlowOptions, permissive bool) naive.Cond {
	l := pick(r, flowLeaves(c.tool))
	k := naive.Cond{Arg: l.tokens, Kind: "from"}
	text := len(l.schema.Types) > 0 && l.schema.Types[0] == naive.String
	switch n := r.IntN(10); {
	case n == 0 && text && (l.schema.As == "" || l.schema.As == "text") && !o.Sorted:
		k.Kind, k.Values = "const", []*naive.Node{node(pick(r, values("", r)))}
		return k
	case n < 3:
		k.Kind = "not_from"
	case n < 5 && !permissive && text:
		k.Kind, k.Tokens = "carries", pick(r, []int{2, 3, 5, 8})
	}
	k.Values = c.names(r, o, k.Kind, permissive)
	if k.Kind == "carries" {
		k.Ignores = !o.Sorted && r.IntN(3) == 0
		return k
	}
	k.Weak = r.IntN(5) == 0
	switch {
	case l.schema.As == "url" && r.IntN(3) == 0:
		k.Relation = flow.SameHost
	case l.schema.As == "path" && r.IntN(2) == 0:
		k.Relation = flow.Below
	case l.tokens[0] == "repo" && r.IntN(2) == 0:
		k.Segments = true
	}
	return k
}

// names draws the sources of a condition.
func (c *FlowCase) names(r *rand.Rand, o FlowOptions, kind string, permissive bool) (list []*naive.Node) {
	trusted := []string{"user", "user", "system"}
	all := []string{"user", "user", "system", "tool", "hidden", "untrusted", "untrusted"}
	for _, s := range c.Texts.Sources {
		all = append(all, s.Name)
		if s.Trusted {
			trusted = append(trusted, s.Name)
		}
	}
	from := all
	switch {
	case permissive && kind == "from" && !o.Sorted:
		from = slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "tool" || s == "hidden" || s == "untrusted" })
	case permissive && kind == "from", o.Sorted && !permissive && kind == "not_from":
		from = trusted
	}
	seen := map[string]bool{}
	for range 1 + r.IntN(3) {
		name := pick(r, from)
		if !seen[name] {
			seen[name] = true
			list = append(list, node(name))
		}
	}
	return list
}

func node(s string) *naive.Node { return &naive.Node{Kind: naive.String, Text: s} }

// flowLeaves lists the pointers at which conditions can look: every parameter, and what is in them.
func flowLeaves(s *naive.Schema) (all []leaf) {
	for _, p := range s.Props {
		at := []string{p.Name}
		switch p.Name {
		case "to":
			all = append(all, leaf{tokens: at, schema: p.Schema.Items}, leaf{tokens: []string{"to", "*"}, schema: p.Schema.Items})
		case "e":
			item := p.Schema.Items
			all = append(all, leaf{tokens: at, schema: item}, leaf{tokens: []string{"e", "*", "x"}, schema: item.Props[0].Schema}, leaf{tokens: []string{"e", "y"}, schema: item.Props[1].Schema})
		default:
			all = append(all, leaf{tokens: at, schema: p.Schema})
		}
	}
	return all
}

// session draws a session policy about texts that were read.
func (c *FlowCase) session(r *rand.Rand) naive.Flow {
	f := naive.Flow{Mode: pick(r, []string{"ask", "deny"}), Effects: r.IntN(2) == 0, UntilUser: r.IntN(2) == 0}
	f.Before = !f.Effects
	after := []string{"untrusted"}
	for _, s := range c.Texts.Sources {
		after = append(after, s.Name)
	}
	if f.Sources = []string{pick(r, after)}; r.IntN(3) == 0 {
		f.Sources, f.Tools = nil, []string{pick(r, []string{"page", "in*", "accounts"})}
	}
	if r.IntN(2) == 0 {
		k := naive.Cond{Kind: "from", Values: c.names(r, FlowOptions{Sorted: true}, "from", true)}
		if r.IntN(2) == 0 {
			k = c.condition(r, FlowOptions{Sorted: true}, true)
		}
		f.Unless = append(f.Unless, k)
	}
	for range r.IntN(3) / 2 * (1 + r.IntN(2)) {
		k := naive.Cond{Kind: "from", Values: c.names(r, FlowOptions{Sorted: true}, "from", false)}
		if r.IntN(3) > 0 {
			k = c.condition(r, FlowOptions{Sorted: true}, false)
		}
		f.Where = append(f.Where, k)
	}
	return f
}

func writeFlow(f naive.Flow) string {
	var b strings.Builder
	before := quote("effects")
	if f.Before {
		before = names([]string{Tool})
	}
	fmt.Fprintf(&b, "[[session]]\ntype = \"flow\"\nafter = %s\nbefore = %s\nmode = %s\n", names(append(slices.Clone(f.Sources), f.Tools...)), before, quote(f.Mode))
	if f.UntilUser {
		b.WriteString("until = \"user\"\n")
	}
	for key, all := range map[string][]naive.Cond{"unless": f.Unless, "where": f.Where} {
		var tables []string
		for _, k := range all {
			tables = append(tables, "{ "+writeCondition(k, ", ")+" }")
		}
		if len(tables) > 0 {
			fmt.Fprintf(&b, "%s = [ %s ]\n", key, strings.Join(tables, ", "))
		}
	}
	return b.String()
}

// originOptions writes the further keys of a condition on an origin.
func originOptions(c naive.Cond, separator string) string {
	s := ""
	if c.Relation != flow.SameValue {
		s += separator + "relation = " + quote(flow.Relations()[c.Relation])
	}
	if c.Weak {
		s += separator + "weak = true"
	}
	if c.Segments {
		s += separator + "segments = true"
	}
	if c.Tokens > 0 {
		s += fmt.Sprint(separator, "tokens = ", c.Tokens)
	}
	if c.Ignores {
		s += separator + "unknown = \"ignore\""
	}
	return s
}
