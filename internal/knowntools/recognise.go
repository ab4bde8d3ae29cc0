package knowntools

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

var _ eval.KnownTools = Recognise

// Recognise returns the known tool of a call for the evaluator. The identity is certain for a
// tool that is built into the host whose hook made the call, for a tool of the own agent (both
// have the program's own definition), and for a tool of an MCP server of the row's name whose
// pinned definition has all parameters of the row. Any other tool gets, by its name, the types
// of all rows of that name together, so that guards evaluate more of its parameters.
func Recognise(call stopgate.Call) (known eval.KnownTool, ok bool) {
	if call.Surface == stopgate.SurfaceAgent && call.Server == "" && call.Definition != nil {
		own := eval.KnownTool{Name: call.Tool, Certain: true, Own: true}
		if t := row("stopgate", string(call.Tool)); t != nil {
			own.Effect = effect([]*Tool{t})
		}
		return own, true
	}
	if answer, transfer := output(call); answer || transfer {
		known = eval.KnownTool{Name: call.Tool, Output: answer, Handoff: transfer}
		if answer {
			known.Effect = new(bool) // it runs nothing
		}
		return known, true
	}
	var rows []*Tool
	if call.Surface == stopgate.SurfaceHook && call.Server == "" {
		if t := ForHost(call.Dialect).Tool(string(call.Tool)); t != nil {
			rows, known.Certain, known.Own = []*Tool{t}, true, true
		}
	}
	if t := pinned(call); t != nil {
		rows, known.Certain = []*Tool{t}, true
	}
	if rows == nil {
		rows = candidates(call)
	}
	if len(rows) == 0 {
		return eval.KnownTool{}, false
	}
	s, err := schema.FromParameters(together(rows, known.Certain))
	if err != nil {
		return eval.KnownTool{}, false
	}
	known.Effect = effect(rows)
	known.Name, known.Parameters = stopgate.ToolName(rows[0].Names[0]), s
	return known, true
}

// effect reports whether one of some rows has an effect.
func effect(rows []*Tool) *bool {
	some := slices.ContainsFunc(rows, func(t *Tool) bool { return t.Effect })
	return &some
}

// pinned returns the row of a tool whose definition is pinned. It returns nil if the server
// has no such row, or if the definition lacks a parameter of the row.
func pinned(call stopgate.Call) *Tool {
	if call.Server == "" || call.Definition == nil || !call.Definition.Pinned {
		return nil
	}
	t := ForServer(string(call.Server), strings.TrimPrefix(string(call.Tool), string(call.Server)+"__"))
	definition, err := jsonstream.Parse(call.Definition.Schema, jsonstream.Options{ObjectRoot: true})
	if t == nil || err != nil {
		return nil
	}
	declared, _ := definition.Get("properties")
	for _, p := range t.Parameters {
		if _, ok := declared.Get(p.Name); !ok {
			return nil
		}
	}
	return t
}

// candidates returns the rows that match a tool's name, with and without the prefix of its
// server.
func candidates(call stopgate.Call) []*Tool {
	rows := ByName(string(call.Tool))
	if own, ok := strings.CutPrefix(string(call.Tool), string(call.Server)+"__"); ok && call.Server != "" {
		rows = append(rows, ByName(own)...)
	}
	return rows
}

// together merges the typed parameters of rows, and if the identity of the tool is certain
// also the others. Where rows give a name different types, the first one counts.
func together(rows []*Tool, certain bool) (list []schema.Parameter) {
	find := func(name string) int {
		return slices.IndexFunc(list, func(q schema.Parameter) bool { return q.Name == name })
	}
	var values []string
	for _, row := range rows {
		for _, p := range row.Parameters {
			switch i := find(p.Name); {
			case p.Kind.Type() == "string":
				values = append(values, p.Name)
			case i < 0:
				list = append(list, p.schema())
			default:
				list[i] = both(list[i], p.schema())
			}
		}
	}
	for _, name := range values {
		if certain && find(name) < 0 {
			list = append(list, schema.Parameter{Name: name, Type: anything})
		}
	}
	return list
}

// anything is the type of a parameter whose row does not type it.
var anything = []string{"null", "boolean", "integer", "number", "string", "array", "object"}

// both merges a parameter that rows have in two forms: as one value and as a list.
func both(a, b schema.Parameter) schema.Parameter {
	if a.Items == nil && b.Items != nil && !slices.Contains(a.Type, "object") && !slices.Contains(a.Type, "argv") {
		a.Type, a.Items = append(slices.Clone(a.Type), "array"), b.Items
	} else if a.Items != nil && b.Items == nil && len(a.Type) == 1 && !slices.Contains(b.Type, "object") && !slices.Contains(b.Type, "argv") {
		a.Type = append(slices.Clone(b.Type), "array")
	}
	return a
}

// schema returns the parameter as a policy file would declare it.
func (p Parameter) schema() schema.Parameter {
	value := schema.Parameter{Type: []string{p.Kind.Type()}}
	if p.Kind == Argv {
		value.Type = []string{"argv", "string"} // as words or as one line
	}
	if p.Member != "" {
		member := value
		if p.Members {
			item := value
			member = schema.Parameter{Type: []string{"array"}, Items: &item}
		}
		member.Name = p.Member
		value = schema.Parameter{Type: []string{"object"}, Properties: []schema.Parameter{member}, Additional: &schema.AdditionalParameter{Allowed: true}}
	}
	switch {
	case p.List:
		item := value
		value = schema.Parameter{Type: []string{"array"}, Items: &item}
	case p.Kind == Folder:
		value = schema.Parameter{Type: []string{"path", "array"}, Items: &schema.Parameter{Type: []string{"path"}}}
	}
	value.Name = p.Name
	return value
}
