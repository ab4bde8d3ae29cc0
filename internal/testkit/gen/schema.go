package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/stopgate/stopgate/internal/testkit/naive"
)

// field is one kind of parameter that a tool may have.
type field struct {
	name   string
	schema func(r *rand.Rand) *naive.Schema
}

func one(t, annotation string) *naive.Schema {
	return &naive.Schema{Types: []string{t}, Annotation: annotation}
}

func list(items *naive.Schema) *naive.Schema {
	return &naive.Schema{Types: []string{naive.Array}, Items: items}
}

func vector() *naive.Schema {
	s := list(one(naive.String, ""))
	s.Annotation = "argv"
	return s
}

func object(props ...naive.Prop) *naive.Schema {
	return &naive.Schema{Types: []string{naive.Object}, Props: props}
}

func prop(name string, s *naive.Schema) naive.Prop { return naive.Prop{Name: name, Schema: s} }

// fields are the parameters of the tools that are made up here. Every kind of place
// is among them: scalars, paths, lists, lists of lists, objects, lists of objects,
// free-form maps, alternatives.
var fields = []field{
	{"path", func(*rand.Rand) *naive.Schema { return one(naive.String, "path") }},
	{"dest", func(*rand.Rand) *naive.Schema { return one(naive.String, "path") }},
	{"name", func(r *rand.Rand) *naive.Schema {
		s := one(naive.String, "")
		if r.IntN(4) == 0 {
			s.MaxLength = 8
		}
		return s
	}},
	{"kind", func(r *rand.Rand) *naive.Schema {
		s := one(naive.String, "")
		if r.IntN(2) == 0 {
			s.Enum = []*naive.Node{text("a"), text("ab"), text("rm")}
		}
		return s
	}},
	{"n", func(r *rand.Rand) *naive.Schema {
		s := one(naive.Number, "")
		if r.IntN(3) == 0 {
			s.Minimum = "0"
		}
		return s
	}},
	{"count", func(*rand.Rand) *naive.Schema { return one("integer", "") }},
	{"force", func(*rand.Rand) *naive.Schema { return one(naive.Bool, "") }},
	{"paths", func(*rand.Rand) *naive.Schema { return list(one(naive.String, "path")) }},
	{"tags", func(r *rand.Rand) *naive.Schema {
		s := list(one(naive.String, ""))
		s.MinItems = r.IntN(2)
		return s
	}},
	{"grid", func(*rand.Rand) *naive.Schema { return list(list(one(naive.Number, ""))) }},
	{"opts", func(*rand.Rand) *naive.Schema {
		return object(prop("level", one("integer", "")), prop("dest", one(naive.String, "path")), prop("tag", one(naive.String, "")))
	}},
	{"edits", func(*rand.Rand) *naive.Schema {
		return list(object(prop("paths", list(one(naive.String, "path"))), prop("old", one(naive.String, "")), prop("n", one(naive.Number, ""))))
	}},
	{"env", func(*rand.Rand) *naive.Schema {
		return &naive.Schema{Types: []string{naive.Object}, Extra: one(naive.String, "")}
	}},
	{"cmd", func(*rand.Rand) *naive.Schema { return one(naive.String, "command") }},
	{"argv", func(*rand.Rand) *naive.Schema { return vector() }},
	{"argvs", func(*rand.Rand) *naive.Schema { return list(vector()) }},
	{"patch", func(*rand.Rand) *naive.Schema { return one(naive.String, "patch") }},
	{"cmds", func(*rand.Rand) *naive.Schema { return list(one(naive.String, "command")) }},
	{"maybe", func(*rand.Rand) *naive.Schema { return &naive.Schema{Types: []string{naive.Number, naive.Null}} }},
	{"either", func(*rand.Rand) *naive.Schema {
		return &naive.Schema{Types: []string{naive.String, naive.Array}, Items: one(naive.String, "")}
	}},
}

// tool draws the parameters of a tool, in random order.
func tool(r *rand.Rand) *naive.Schema {
	root := object()
	for _, i := range r.Perm(len(fields))[:1+r.IntN(5)] {
		p := prop(fields[i].name, fields[i].schema(r))
		p.Required = r.IntN(4) == 0
		if r.IntN(8) == 0 {
			p.Aliases = []string{p.Name + "_alias"}
		}
		if !p.Required && (len(p.Schema.Types) == 1 || fields[i].name == "maybe") && !commands(p.Schema) && r.IntN(6) == 0 {
			p.Schema.Default = defaultOf(r, p.Schema)
		}
		root.Props = append(root.Props, p)
	}
	return root
}

// commands reports whether a schema is one of command lines.
func commands(s *naive.Schema) bool {
	return s.Annotation == "command" || s.Annotation == "argv" || s.Items != nil && commands(s.Items)
}

func defaultOf(r *rand.Rand, s *naive.Schema) *naive.Node {
	for range 20 {
		w := &writer{r: r}
		w.value(s)
		n, fault := naive.Read(`{"x":` + w.String() + `}`)
		if fault == nil && naive.Valid(n.Members[0].Value, s) {
			return n.Members[0].Value
		}
	}
	return nil
}

// leaf is a pointer at which a rule can look.
type leaf struct {
	tokens []string
	schema *naive.Schema
	lists  int // arrays crossed
}

// leaves lists the pointers of a schema.
func leaves(s *naive.Schema, tokens []string, lists int) []leaf {
	at := func(token string) []string { return append(tokens[:len(tokens):len(tokens)], token) }
	var all []leaf
	for _, t := range s.Types {
		switch t {
		case naive.Object:
			for _, p := range s.Props {
				all = append(all, leaves(p.Schema, at(p.Name), lists)...)
			}
			if s.Extra != nil {
				all = append(all, leaves(s.Extra, at("HOME"), lists)...)
			}
		case naive.Array:
			if s.Annotation == "argv" {
				all = append(all, leaf{tokens, one(naive.String, "command"), lists})
				continue
			}
			all = append(all, leaf{tokens, s, lists})
			all = append(all, leaves(s.Items, tokens, lists+1)...)
			all = append(all, leaves(s.Items, at("*"), lists+1)...)
		default:
			all = append(all, leaf{tokens, s, lists})
		}
	}
	return all
}

// parameters writes a schema as the parameters of a tool's table.
func parameters(s *naive.Schema) string {
	var b strings.Builder
	for _, p := range s.Props {
		fmt.Fprintf(&b, "%s = %s\n", p.Name, parameter(p))
	}
	return b.String()
}

func parameter(p naive.Prop) string {
	s := p.Schema
	var names []string
	for _, t := range s.Types {
		if s.Annotation != "" && (t == naive.String || t == naive.Array) {
			t = s.Annotation
		}
		names = append(names, quote(t))
	}
	parts := []string{"type = " + strings.Join(names, "")}
	if len(names) > 1 {
		parts[0] = "type = [" + strings.Join(names, ", ") + "]"
	}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if s.As != "" {
		add("as = %s", quote(s.As))
	}
	if p.Required {
		add("required = true")
	}
	if len(p.Aliases) > 0 {
		add("aliases = [%s]", quote(p.Aliases[0]))
	}
	if s.Items != nil && s.Annotation != "argv" {
		add("items = %s", parameter(naive.Prop{Schema: s.Items}))
	}
	if len(s.Props) > 0 {
		var props []string
		for _, q := range s.Props {
			props = append(props, q.Name+" = "+parameter(q))
		}
		add("properties = { %s }", strings.Join(props, ", "))
	}
	switch {
	case s.Extra != nil && len(s.Extra.Types) == 0:
		add("additional_properties = true")
	case s.Extra != nil:
		add("additional_properties = %s", parameter(naive.Prop{Schema: s.Extra}))
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, literal(v))
		}
		add("enum = [%s]", strings.Join(values, ", "))
	}
	if s.Default != nil {
		add("default = %s", literal(s.Default))
	}
	if s.Minimum != "" {
		add("minimum = %s", s.Minimum)
	}
	if s.MaxLength > 0 {
		add("max_length = %d", s.MaxLength)
	}
	if s.MinItems > 0 {
		add("min_items = %d", s.MinItems)
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// definition writes a schema as JSON Schema, as a request or server gives it.
func definition(s *naive.Schema) string {
	parts := []string{}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch len(s.Types) {
	case 0:
	case 1:
		add(`"type":%s`, quote(s.Types[0]))
	default:
		var branches []string
		for _, t := range s.Types {
			b := *s
			b.Types = []string{t}
			if t != naive.Array {
				b.Items = nil
			}
			branches = append(branches, definition(&b))
		}
		return `{"anyOf":[` + strings.Join(branches, ",") + `]}`
	}
	if s.Annotation != "" {
		add(`"x-stopgate-type":%s`, quote(s.Annotation))
	}
	if s.Items != nil {
		add(`"items":%s`, definition(s.Items))
	}
	if len(s.Props) > 0 {
		var props, required []string
		for _, p := range s.Props {
			props = append(props, quote(p.Name)+":"+definition(p.Schema))
			if p.Required {
				required = append(required, quote(p.Name))
			}
		}
		add(`"properties":{%s},"required":[%s]`, strings.Join(props, ","), strings.Join(required, ","))
	}
	if s.Extra != nil {
		add(`"additionalProperties":%s`, definition(s.Extra))
	}
	if s.Closed {
		add(`"additionalProperties":false`)
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, v.JSON())
		}
		add(`"enum":[%s]`, strings.Join(values, ","))
	}
	if s.Default != nil {
		add(`"default":%s`, s.Default.JSON())
	}
	if s.Minimum != "" {
		add(`"minimum":%s`, s.Minimum)
	}
	if s.MaxLength > 0 {
		add(`"maxLength":%d`, s.MaxLength)
	}
	if s.MinItems > 0 {
		add(`"minItems":%d`, s.MinItems)
	}
	return "{" + strings.Join(parts, ",") + "}"
}
