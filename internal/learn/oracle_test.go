package learn_test

import (
	"net/url"
	"regexp"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/internal/testkit/naive"
)

// oracle returns the mode of a call by the naive evaluator, "" if a rule for the tool has a condition that it does
// not know, or one on who calls.
func oracle(text []byte, tool, args string, definition *stopgate.ToolDefinition) string {
	file, _ := parser.Parse(kinds.Table(), "stopgate.toml", text)
	base, _, err := schema.ParseJSON(definition.Schema)
	if file == nil || err != nil {
		return ""
	}
	layer := naive.Layer{Speaks: true}
	tables := file.TablesFor(tool)
	for _, t := range tables {
		if t.Run != nil {
			var ok bool
			if layer.Rules, ok = naiveRules(t.Run.Rules, args); !ok {
				return ""
			}
			break
		}
	}
	for _, g := range file.Guards {
		if g.When == nil { // nobody has the principals of the draw
			guards, ok := naiveRules([]*syntax.Rule{g}, args)
			if !ok {
				return ""
			}
			layer.Guards = append(layer.Guards, guards...)
		}
	}
	if s := syntax.DeclaredSchema(tables, tool, base); s != nil {
		layer.Schema = naiveSchema(s.Root)
	} else {
		layer.Schema = naiveSchema(base.Root)
	}
	p := naive.Policy{Layers: []naive.Layer{layer}, Root: "/srv/proj", Home: "/home/u"}
	trace := p.Trace(args)
	return trace[len(trace)-1].Mode
}

func naiveRules(rules []*syntax.Rule, args string) (list []naive.Rule, ok bool) {
	root, _ := naive.Read(args)
	for _, r := range rules {
		if r.When != nil {
			return nil, false
		}
		of := naive.Rule{Mode: r.Mode.String()}
		for i := range r.Conditions {
			c := &r.Conditions[i]
			if c.Spec.Kind.String() == "usage" {
				return nil, false
			}
			k := naive.Cond{Arg: []string(c.Arg), On: c.On, Kind: c.Spec.Kind.String(), Values: naiveValues(c.Spec.Values)}
			// Patterns and hosts that learn writes mean the same in the standard library, and more than the naive
			// evaluator reads.
			if k.Kind == "pattern" || k.Kind == "host" {
				k = naive.Cond{Arg: k.Arg, Kind: "const", Values: []*naive.Node{{Kind: naive.Null}}}
				if at := root.Get(c.Arg[0]); at != nil && standard(c.Spec.Kind.String(), c.Spec.Values[0].Text, at.Text) {
					k.Kind, k.Values = "max_length", []*naive.Node{{Kind: naive.Number, Text: "1000"}}
				}
			}
			of.All = append(of.All, k)
		}
		list = append(list, of)
	}
	return list, true
}

// standard judges a value by the standard library.
func standard(kind, literal, value string) bool {
	if kind == "pattern" {
		return regexp.MustCompile(literal).MatchString(value)
	}
	u, err := url.Parse(value)
	return err == nil && u.Host == literal && u.User == nil
}

func naiveValues(literals []condition.Literal) (list []*naive.Node) {
	for _, v := range literals {
		root, _ := naive.Read(`{"v":` + v.JSON + `}`)
		list = append(list, root.Get("v"))
	}
	return list
}

func naiveSchema(n *schema.Node) *naive.Schema {
	if n == nil {
		return nil
	}
	s := &naive.Schema{Requested: !n.Declared, Items: naiveSchema(n.Items)}
	if n.Annotation != schema.None {
		s.Annotation = n.Annotation.String()
	}
	for _, t := range []struct {
		is   schema.Type
		name string
	}{{schema.String, naive.String}, {schema.Number, naive.Number}, {schema.Object, naive.Object}, {schema.Array, naive.Array}, {schema.Boolean, naive.Bool}} {
		if n.Types&t.is == t.is && n.Types != schema.AnyType {
			s.Types = append(s.Types, t.name)
		}
	}
	for _, p := range n.Properties {
		s.Props = append(s.Props, naive.Prop{Name: p.Name, Required: slices.Contains(n.Required, p.Name), Schema: naiveSchema(p.Node)})
	}
	return s
}
