package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/stopgate/stopgate/internal/testkit/naive"
)

// Case is one policy in both forms, and the tool it decides about.
type Case struct {
	Naive *naive.Policy
	// Files are the texts of the policy files, one for each layer of Naive.
	Files []File
	// Definition is the tool's JSON Schema as a request would give it; "" for none.
	Definition string
	// Defined says that the call comes with a definition, with a schema or without.
	Defined bool
	// Moves says that command lines of the documents may work in an unknown directory.
	Moves bool

	tool    *naive.Schema
	defined *naive.Schema // as the definition says it
}

// File is one policy file.
type File struct {
	Name, Text string
	Trusted    bool
}

// Tool is the name of the tool in every case.
const Tool = "t"

// Root and Home are the directories paths are read against in every case.
const (
	Root = "/srv/proj"
	Home = "/home/u"
)

// Draw makes a policy.
func Draw(r *rand.Rand) *Case {
	c := &Case{tool: tool(r), Naive: &naive.Policy{Root: Root, Home: Home}}
	known := r.IntN(10) > 0 // else no schema at all
	inFile := known && r.IntN(3) > 0
	if known && !inFile {
		c.Definition, c.Defined = definition(c.tool), true
		requested(c.tool)
	}
	for i := range 1 + r.IntN(6)/5 {
		c.layer(r, i, known, inFile && i == 0)
	}
	return c
}

// layer draws one policy file.
func (c *Case) layer(r *rand.Rand, index int, known, declares bool) {
	l := naive.Layer{Speaks: true}
	f := File{Name: fmt.Sprintf("file%d.toml", index), Trusted: index == 0 || r.IntN(2) == 0}
	l.Untrusted = !f.Trusted
	var b strings.Builder
	b.WriteString("version = 1\n")
	if known && (declares || c.Definition != "") {
		l.Schema = c.tool
		if c.Definition != "" {
			if c.defined == nil {
				c.defined = withoutAliases(c.tool)
			}
			l.Schema = c.defined // the same one: files that see one schema see with one eye
		}
	}
	if index > 0 && r.IntN(3) == 0 {
		l.Speaks = false
	}
	if l.Speaks {
		fmt.Fprintf(&b, "[tools.%s]\n", Tool)
		if r.IntN(4) == 0 {
			l.Unknown = pick(r, []string{"ask", "deny", "allow"})
			fmt.Fprintf(&b, "unknown_params = %q\n", l.Unknown)
		}
		if r.IntN(3) > 0 {
			l.Uncovered = pick(r, []string{"ask", "deny", "allow", "allow"})
			fmt.Fprintf(&b, "uncovered = %q\n", l.Uncovered)
		}
		if r.IntN(5) == 0 {
			l.OnSchema = pick(r, []string{"ask", "deny"})
			fmt.Fprintf(&b, "on_schema_violation = %q\n", l.OnSchema)
		}
		simple := r.IntN(12) == 0
		for range 1 + r.IntN(4) {
			if !simple {
				l.Rules = addRule(l.Rules, rule(r, c.tool, false))
			}
		}
		if simple || r.IntN(2) == 0 {
			l.Rules = append(l.Rules, naive.Rule{Mode: mode(r, false)})
		}
		fmt.Fprintf(&b, "[tools.%s.policy]\nrun = [\n", Tool)
		for _, k := range l.Rules {
			fmt.Fprintf(&b, "  { %s },\n", writeRule(k, ", "))
		}
		b.WriteString("]\n")
		if declares {
			fmt.Fprintf(&b, "[tools.%s.parameters]\n%s", Tool, parameters(c.tool))
		}
	}
	for range max(0, r.IntN(5)-2) {
		g := guard(r, c.tool)
		if !known && g.All[0].On != "" && g.All[0].On != "string" {
			continue // no schema says which values are paths
		}
		l.Guards = addRule(l.Guards, g)
	}
	for _, g := range l.Guards {
		b.WriteString("[[guard]]\n" + writeRule(g, "\n") + "\n")
	}
	f.Text = b.String()
	c.Naive.Layers = append(c.Naive.Layers, l)
	c.Files = append(c.Files, f)
}

// addRule adds a rule unless it is there already, which is an error in a file.
func addRule(rules []naive.Rule, k naive.Rule) []naive.Rule {
	same := k
	for _, other := range rules {
		if same.Mode = other.Mode; writeRule(same, "") == writeRule(other, "") {
			return rules
		}
	}
	return append(rules, k)
}

// requested marks what only a request's schema declares.
func requested(s *naive.Schema) {
	if s == nil {
		return
	}
	s.Requested = true
	requested(s.Items)
	requested(s.Extra)
	for _, p := range s.Props {
		requested(p.Schema)
	}
	for _, one := range s.AnyOf {
		requested(one)
	}
}

// withoutAliases is what a request's schema says of a tool: JSON Schema has no
// aliases.
func withoutAliases(s *naive.Schema) *naive.Schema {
	plain := *s
	plain.Props = nil
	for _, p := range s.Props {
		p.Aliases = nil
		plain.Props = append(plain.Props, p)
	}
	return &plain
}

func mode(r *rand.Rand, restrictive bool) string {
	if restrictive {
		return pick(r, []string{"ask", "ask", "edit", "skip", "deny"})
	}
	return pick(r, []string{"unattended", "unattended", "unattended", "ask", "ask", "edit", "skip", "deny", "deny"})
}

func rule(r *rand.Rand, s *naive.Schema, restrictive bool) naive.Rule {
	k := naive.Rule{Mode: mode(r, restrictive)}
	for range 1 + r.IntN(6)/5 + r.IntN(6)/5 {
		k.All = append(k.All, condition(r, s))
	}
	return k
}

func guard(r *rand.Rand, s *naive.Schema) naive.Rule {
	g := naive.Rule{Mode: mode(r, true)}
	k := condition(r, s)
	if r.IntN(2) == 0 {
		k = matcher(r, naive.Cond{On: "path"}, "path")
		switch r.IntN(5) {
		case 4:
			k = naive.Cond{On: "path", Kind: "outside", Values: []*naive.Node{text(pick(r, []string{"**", "src/**", "/etc/**", "/srv/proj/src"}))}}
		case 0:
			k = matcher(r, naive.Cond{On: "string"}, "")
		case 1:
			k = matcher(r, naive.Cond{On: "command"}, "command")
		}
	}
	g.All = []naive.Cond{k}
	return g
}

// condition draws a condition that fits the schema.
func condition(r *rand.Rand, s *naive.Schema) naive.Cond {
	all := leaves(s, nil, 0)
	l := pick(r, all)
	k := naive.Cond{Arg: l.tokens}
	if r.IntN(10) == 0 {
		k.Match = pick(r, []string{"any", "all"})
	}
	if r.IntN(12) == 0 {
		k.Kind, k.Values = "present", []*naive.Node{pick(r, []*naive.Node{{Kind: naive.Bool, Text: "true"}, {Kind: naive.Bool, Text: "false"}, text("value")})}
		return k
	}
	t := pick(r, l.schema.Types)
	if t == naive.String {
		return matcher(r, k, l.schema.Annotation)
	}
	switch t {
	case naive.Number, "integer":
		k.Kind = pick(r, []string{"minimum", "maximum", "exclusive_minimum", "exclusive_maximum", "const", "enum"})
		k.Values = []*naive.Node{number(r, t)}
		if k.Kind == "enum" {
			k.Values = another(k.Values, number(r, t))
		}
	case naive.Null:
		k.Kind, k.Values = "const", []*naive.Node{{Kind: naive.Null, Text: "null"}}
		if r.IntN(3) == 0 {
			k.Kind, k.Values = "enum", append(k.Values, number(r, naive.Number))
		}
	case naive.Bool:
		k.Kind, k.Values = "const", []*naive.Node{{Kind: naive.Bool, Text: pick(r, []string{"true", "false"})}}
	case naive.Array:
		k.Kind = pick(r, []string{"min_items", "max_items"})
		k.Values = []*naive.Node{{Kind: naive.Number, Text: pick(r, []string{"0", "1", "2"})}}
	}
	return k
}

func number(r *rand.Rand, t string) *naive.Node {
	n := &naive.Node{Kind: naive.Number, Text: pick(r, []string{"0", "1", "5", "9007199254740992", "100"})}
	if t == naive.Number && r.IntN(4) == 0 {
		n.Text = "0.5"
	}
	return n
}

func text(s string) *naive.Node { return &naive.Node{Kind: naive.String, Text: s} }

// matcher draws a matcher on strings.
func matcher(r *rand.Rand, k naive.Cond, annotation string) naive.Cond {
	if annotation == "patch" {
		annotation = "path" // of each of its files
	}
	k.Kind = pick(r, []string{"prefix", "const", "enum", "glob", "pattern", "suffix", "prefix", "max_length"})
	switch {
	case annotation == "path" && k.Kind == "max_length":
		k.Kind = "const"
	case annotation == "command" && k.Kind != "enum" && k.Kind != "const":
		k.Kind = "prefix"
	}
	var from []string
	switch {
	case k.Kind == "pattern":
		from = []string{"^a", "b$", "^(a|ab)$", "rm", "^src/[a-z]+$", "env"}
	case k.Kind == "max_length":
		k.Values = []*naive.Node{{Kind: naive.Number, Text: pick(r, []string{"0", "1", "3", "6"})}}
		return k
	case annotation == "path" && k.Kind == "glob":
		from = []string{"**/.env*", "src/**", "src/*", "**/*.rs", "/etc/**"}
	case annotation == "path" && k.Kind == "suffix":
		from = []string{".env", "a", "rs"}
	case annotation == "path":
		from = []string{"src", "src/a", ".env", "/srv/proj/src", "/etc", "src/a/b"}
	case annotation == "command":
		from = []string{"git status", "git", "rm", "ls", "ls -l", "rm -rf x"}
	case k.Kind == "glob":
		from = []string{"a*", "*b", "?", "*", "r?", "a?c"}
	default:
		from = []string{"a", "ab", "rm", "rm -rf", "é", "a b"}
	}
	k.Values = []*naive.Node{text(pick(r, from))}
	if k.Kind == "enum" {
		k.Values = another(k.Values, text(pick(r, from)))
	}
	return k
}

// another adds a value to the first one of an enum. None stands twice, and they are in
// order, so that rules that say the same are written alike.
func another(values []*naive.Node, more *naive.Node) []*naive.Node {
	switch first := values[0]; {
	case first.Text == more.Text:
		return values
	case more.Text < first.Text:
		return []*naive.Node{more, first}
	}
	return append(values, more)
}

// writeRule writes a rule: the inside of an inline table, or the lines of a table.
func writeRule(k naive.Rule, separator string) string {
	var parts []string
	if len(k.All) == 1 {
		parts = append(parts, writeCondition(k.All[0], separator))
	} else if len(k.All) > 1 {
		var members []string
		for _, c := range k.All {
			members = append(members, "{ "+writeCondition(c, ", ")+" }")
		}
		parts = append(parts, "all = ["+strings.Join(members, ", ")+"]")
	}
	if k.SameText {
		parts = append(parts, "same_text = true")
	}
	if k.When != nil {
		parts = append(parts, writeWhen(k.When))
	}
	return strings.Join(append(parts, "mode = "+quote(k.Mode)), separator)
}

func writeCondition(c naive.Cond, separator string) string {
	target := "arg = " + quote(pointer(c.Arg))
	if c.On == "" && c.Arg == nil {
		target = "arg = " + quote("*")
	}
	if c.On != "" {
		target = "on = " + quote(c.On)
	}
	value := literal(c.Values[0])
	if c.Kind == "enum" || c.Origin() {
		var all []string
		for _, v := range c.Values {
			all = append(all, literal(v))
		}
		value = "[" + strings.Join(all, ", ") + "]"
	}
	written := target + separator + c.Kind + " = " + value + originOptions(c, separator)
	if c.Match != "" {
		written += separator + "match = " + quote(c.Match)
	}
	return written
}

func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(t))
	}
	return b.String()
}

// literal writes a value in TOML.
func literal(n *naive.Node) string {
	switch n.Kind {
	case naive.String:
		return quote(n.Text)
	case naive.Array:
		var all []string
		for _, e := range n.Elems {
			all = append(all, literal(e))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case naive.Object:
		var all []string
		for _, m := range n.Members {
			all = append(all, quote(m.Key)+" = "+literal(m.Value))
		}
		return "{ " + strings.Join(all, ", ") + " }"
	case naive.Null:
		return "{ null = true }"
	}
	return n.Text
}

// quote writes a string that TOML and JSON read alike.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
