package amend

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/schema"
)

// undeclared reports whether the only findings on the rule are open parameters of other tools,
// which a shared table declares (K1).
func (c Change) undeclared(found diag.List) bool {
	wrong := found.Errors()
	return c.Copied != "" && len(wrong) > 0 && !slices.ContainsFunc(wrong, func(d diag.Diagnostic) bool {
		return d.Code != diag.IgnoresTarget || d.Pack != 0 || d.Range.Start.Line != c.Line
	})
}

// declare adds the tool's own parameters, so that those of the shared table do not apply to it any
// more. Their meaning does not change.
func (c Change) declare(definition stopgate.ToolDefinition) (Change, bool) {
	file, _ := parser.Parse(kinds.Table(), c.Name, c.Text)
	s, _, err := schema.ParseJSON(definition.Schema)
	if file == nil || err != nil || s.Root == nil || !s.Root.HasProperties || s.Root.Open {
		return c, false
	}
	var shared []schema.Property
	for _, t := range file.TablesFor(string(c.Tool)) {
		if t.Schema != nil {
			if t.Named(string(c.Tool)) {
				return c, false
			}
			shared = t.Schema.Root.Properties
			break
		}
	}
	lines := fmt.Sprintf("\n[tools.%s.parameters]\n", tomltree.Key(string(c.Tool)))
	for _, p := range s.Root.Properties {
		kind, ok := typeOf(p, shared)
		if !ok {
			return c, false
		}
		required := ""
		if slices.Contains(s.Root.Required, p.Name) {
			required = ", required = true"
		}
		lines += fmt.Sprintf("%s = { type = %q%s }\n", tomltree.Key(p.Name), kind, required)
	}
	c.Text = append(slices.Clone(c.Text), strings.TrimRight(lines, "\n")+"\n"...)
	return c, true
}

// typeOf returns the type of a parameter as policy files spell it, false if it needs more than a
// word.
func typeOf(p schema.Property, shared []schema.Property) (string, bool) {
	n := p.Node
	a := n.Annotation
	for _, other := range shared {
		if other.Name == p.Name && a == schema.None {
			a = other.Node.Annotation
		}
	}
	plain := n.Ref == nil && len(n.AllOf)+len(n.AnyOf)+len(n.OneOf)+len(n.Properties) == 0 && n.Items == nil && !n.Nullable
	if !plain {
		return "", false
	}
	switch n.Types {
	case schema.String:
		if a != schema.None {
			return a.String(), true
		}
		return "string", true
	case schema.Boolean:
		return "boolean", true
	case schema.Integer:
		return "integer", true
	case schema.Number, schema.Number | schema.Integer:
		return "number", true
	}
	return "", false
}
