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

// FlowCase is a policy with conditions on where values come from, and a session to judge it in.
type FlowCase struct {
	Text    string
	Results []naive.Rule  // about results
	Naive   *naive.Policy // without the texts
	Texts   *naiveflow.Policy
	Events  []naiveflow.Event
	Knows   flow.Knowledge
	// Says are the conditions on the words of the person.
	Says []naiveflow.Says

	tool *naive.Schema
}

// FlowOptions limit what is drawn.
type FlowOptions struct {
	// Sorted draws rules from the strictest to the weakest, of which the permissive ones rely on
	// trusted sources only, and of the restrictive ones those with not_from. None ignores texts that
	// are not known.
	Sorted bool
	// Restricts draws one rule that restricts calls with values from some sources, and no other.
	Restricts bool
}

// DrawFlow makes a policy and a session.
func DrawFlow(r *rand.Rand, o FlowOptions) *FlowCase {
	c := &FlowCase{Naive: &naive.Policy{}, Texts: &naiveflow.Policy{Effects: map[string]bool{"add_entry": true}, Tables: map[string]bool{}}}
	var b strings.Builder
	b.WriteString("version = 1\n")
	if r.IntN(3) == 0 {
		c.Texts.Own = []string{"me@corp.example"}
		b.WriteString("[flow]\nown = [\"me@corp.example\"]\n")
	}
	c.sources(r, &b)
	for _, tool := range []string{"find_contacts", "inbox", "page", "read_profile", "accounts", "add_entry"} {
		c.Texts.Tables[tool] = true
		fmt.Fprintf(&b, "[tools.%s]\n", tool)
		if c.Texts.Effects[tool] {
			b.WriteString("effect = true\n")
		}
	}
	c.Texts.Tables[Tool] = true
	fmt.Fprintf(&b, "[tools.%s]\n", Tool)
	if c.Naive.Effect = r.IntN(2) == 0; c.Naive.Effect {
		b.WriteString("effect = true\n")
		c.Texts.Effects[Tool] = true
	}
	c.tool = flowTool(r)
	l := naive.Layer{Speaks: true, Schema: c.tool}
	c.rules(r, o, &l)
	fmt.Fprintf(&b, "[tools.%s.parameters]\n%s[tools.%s.policy]\nrun = [\n", Tool, parameters(c.tool), Tool)
	for _, k := range l.Rules {
		fmt.Fprintf(&b, "  { %s },\n", writeRule(k, ", "))
	}
	b.WriteString("]\n")
	if r.IntN(4) == 0 && !o.Restricts {
		c.Results = []naive.Rule{c.rule(r, o, "deny"), c.rule(r, o, "unattended")}
		c.Results[0].Mode = "skip"
		b.WriteString("result = [\n")
		for _, k := range c.Results {
			fmt.Fprintf(&b, "  { %s },\n", writeRule(k, ", "))
		}
		b.WriteString("]\n")
	}
	for _, g := range l.Guards {
		b.WriteString("[[guard]]\n" + writeRule(g, "\n") + "\n")
	}
	for range r.IntN(4) / 2 {
		if o.Restricts {
			break
		}
		f := c.session(r)
		c.Naive.Flows = append(c.Naive.Flows, f)
		b.WriteString(writeFlow(f))
	}
	c.Naive.Layers = []naive.Layer{l}
	c.Text = b.String()
	c.Knows = flow.KnowsUser | flow.KnowsSystem | flow.KnowsResults
	if r.IntN(8) == 0 {
		c.Knows = flow.Knowledge(r.IntN(8))
	}
	c.converse(r)
	return c
}

// OfResults returns the policy whose rules are those about results.
func (c *FlowCase) OfResults() *naive.Policy {
	n := *c.Naive
	l := n.Layers[0]
	l.Rules, l.Guards = c.Results, nil
	n.Layers, n.Flows = []naive.Layer{l}, nil
	return &n
}

// Sentence draws a text with some values.
func (c *FlowCase) Sentence(r *rand.Rand) string { return sentence(r) }

// flowTool draws the parameters of the judged tool.
func flowTool(r *rand.Rand) *naive.Schema {
	as := func(kind string) *naive.Schema {
		s := one(naive.String, "")
		s.As = kind
		return s
	}
	all := []naive.Prop{
		prop("to", list(as("email"))), prop("cc", as("email")), prop("who", as("")), prop("id", as("id")), prop("site", as("url")), prop("host", as("host")),
		prop("file", as("path")), prop("n", one(naive.Number, "")), prop("sum", as("money")), prop("note", as("")), prop("flag", one(naive.Bool, "")), prop("day", as("date")),
		prop("o", &naive.Schema{Types: []string{naive.Object}, Extra: &naive.Schema{}}), prop("e", list(object(prop("x", as("")), prop("y", as("email"))))), prop("repo", as("text")),
		prop("phone", as("phone")), prop("account", as("iban")),
	}
	root := object()
	for _, i := range r.Perm(len(all))[:2+r.IntN(4)] {
		p := all[i]
		p.Required = r.IntN(4) == 0
		root.Props = append(root.Props, p)
	}
	return root
}

// flowSources are the sources that are drawn; those that others lean on are before them.
var flowSources = []naiveflow.Source{
	{Name: "contacts", Trusted: true, Tools: []string{"find_contacts"}, Field: []string{"*", "email"}},
	{Name: "people", Trusted: true, Tools: []string{"find*"}, Field: []string{"*", "name"}},
	{Name: "senders", Tools: []string{"inbox"}, Field: []string{"mails", "*", "from"}},
	{Name: "known", Trusted: true, Tools: []string{"inbox"}, Items: []string{"mails", "*"}, Field: []string{"body"}, Where: []naiveflow.Need{{Pointer: []string{"from"}, From: []string{"user", "contacts"}}}},
	{Name: "bills", Trusted: true, Tools: []string{"inbox"}, Items: []string{"mails", "*"}, Where: []naiveflow.Need{{Pointer: []string{"subject"}, Const: "the bill"}}},
	{Name: "profile", Trusted: true, Tools: []string{"read_profile"}, Asked: []naiveflow.Need{{Pointer: []string{"path"}, Const: "/srv/profile.txt"}}, Label: `(?m)^Owner: (.+)$`},
	{Name: "iban", Trusted: true, Tools: []string{"read_profile", "page"}, Label: `IBAN: (\S+)`, Text: true},
	{Name: "named", Trusted: true, Tools: []string{"page"}, Asked: []naiveflow.Need{{Pointer: []string{"url"}, From: []string{"user"}}}},
	{Name: "site", Trusted: true, Tools: []string{"page"}, Asked: []naiveflow.Need{{Pointer: []string{"url"}, From: []string{"user", "system"}, Relation: flow.SameHost}}},
	{Name: "ids", Trusted: true, Tools: []string{"accounts"}, Field: []string{"*"}, Keys: true},
	{Name: "web", Tools: []string{"page", "strange*"}},
	{Name: "files", Tools: []string{"read*", "stranger"}},
	{Name: "fetched", Tools: []string{"page", "read_profile"}, Asked: []naiveflow.Need{{Pointer: []string{"url"}, Pattern: `(?i)^https?://[a-z]*\.(com|example)`}}},
	{Name: "temporary", Tools: []string{"*"}, Asked: []naiveflow.Need{{Pointer: []string{"path"}, Pattern: "^/tmp/"}}},
	{Name: "added", Trusted: true, Tools: []string{"add_entry"}},
}

// sources draws declared sources.
func (c *FlowCase) sources(r *rand.Rand, b *strings.Builder) {
	have := []string{"user", "system"}
	for _, s := range flowSources {
		if r.IntN(2) == 0 {
			continue
		}
		s.Where, s.Asked = slices.Clone(s.Where), slices.Clone(s.Asked)
		for _, needs := range [][]naiveflow.Need{s.Where, s.Asked} {
			for i := range needs {
				needs[i].From = slices.DeleteFunc(slices.Clone(needs[i].From), func(name string) bool { return !slices.Contains(have, name) })
			}
		}
		if r.IntN(6) == 0 && !slices.ContainsFunc(s.Asked, func(n naiveflow.Need) bool { return n.Pattern != "" }) {
			s.Trusted = !s.Trusted
		}
		have = append(have, s.Name)
		c.Texts.Sources = append(c.Texts.Sources, s)
		b.WriteString(writeSource(&s))
	}
	if c.Texts.Last = r.IntN(6) == 0; c.Texts.Last {
		b.WriteString("[sources.user]\nonly = \"last\"\n")
	}
}

func writeSource(s *naiveflow.Source) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[sources.%s]\ntool = %s\ntrusted = %t\n", s.Name, names(s.Tools), s.Trusted)
	for key, needs := range map[string][]naiveflow.Need{"asked": s.Asked, "where": s.Where} {
		for _, n := range needs {
			fmt.Fprintf(&b, "%s = { pointer = %s, ", key, quote(pointer(n.Pointer)))
			switch {
			case n.Const != "":
				fmt.Fprintf(&b, "const = %s", quote(n.Const))
			case n.Pattern != "":
				fmt.Fprintf(&b, "pattern = '%s'", n.Pattern)
			default:
				fmt.Fprintf(&b, "from = %s", names(n.From))
			}
			if n.Relation != flow.SameValue {
				fmt.Fprintf(&b, ", relation = %s", quote(flow.Relations()[n.Relation]))
			}
			b.WriteString(" }\n")
		}
	}
	if len(s.Items) > 0 {
		fmt.Fprintf(&b, "items = %s\n", quote(pointer(s.Items)))
	}
	if len(s.Field) > 0 {
		fmt.Fprintf(&b, "field = %s\n", quote(pointer(s.Field)+map[bool]string{true: "~"}[s.Keys]))
	}
	if s.Label != "" {
		fmt.Fprintf(&b, "label = '%s'\n", s.Label)
	}
	if s.Text {
		b.WriteString("format = \"text\"\n")
	}
	return b.String()
}

func names(list []string) string {
	var all []string
	for _, n := range list {
		all = append(all, quote(n))
	}
	return "[" + strings.Join(all, ", ") + "]"
}
