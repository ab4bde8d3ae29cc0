package learn

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/schema"
)

// declared returns a text of the file that also declares the parameters of tools, where no table of their own
// does: a rule on a parameter needs its declaration, and a table that other tools share has theirs. Names of
// paths, addresses and commands get these types, so that guards look at them. A tool without a definition, or
// with one that a table cannot state, stays as it is.
func declared(name string, text []byte, definitions []*stopgate.ToolDefinition) []byte {
	file, _ := parser.Parse(kinds.Table(), name, text)
	if file == nil {
		return text
	}
	for _, d := range definitions {
		lines := declaration(file, d)
		if lines != "" && len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
			text = append(bytes.Clone(text), '\n')
		}
		text = append(bytes.Clone(text), lines...)
	}
	return text
}

// declaration returns the table of a tool's parameters, "" if there is one or a table cannot state them.
func declaration(file *syntax.File, definition *stopgate.ToolDefinition) string {
	s, _, err := schema.ParseJSON(definition.Schema)
	if err != nil || s.Root == nil || s.Root.Open {
		return ""
	}
	var shared []schema.Property
	for _, t := range file.TablesFor(string(definition.Name)) {
		if t.Schema == nil {
			continue
		}
		if t.Named(string(definition.Name)) {
			return ""
		}
		shared = append(shared, t.Schema.Root.Properties...)
	}
	lines := fmt.Sprintf("\n[tools.%s.parameters]\n", tomltree.Key(string(definition.Name)))
	if len(s.Root.Properties) == 0 {
		lines = fmt.Sprintf("\n[tools.%s]\nparameters = {}\n", tomltree.Key(string(definition.Name)))
	}
	for _, p := range s.Root.Properties {
		spec, ok := specOf(p.Name, p.Node, shared, slices.Contains(s.Root.Required, p.Name))
		if !ok {
			return ""
		}
		lines += tomltree.Key(p.Name) + " = " + spec + "\n"
	}
	return lines
}

// stated returns the parameters that a table of the tool declares, false if none does: the author of that table
// said which parameters matter.
func stated(file *syntax.File, tool stopgate.ToolName) (names []string, ok bool) {
	for _, t := range file.TablesFor(string(tool)) {
		if t.Schema != nil && t.Named(string(tool)) {
			for _, p := range t.Schema.Root.Properties {
				names = append(names, p.Name)
			}
			return names, true
		}
	}
	return nil, false
}

// specOf writes the declaration of a parameter.
func specOf(name string, n *schema.Node, shared []schema.Property, required bool) (string, bool) {
	if n.Ref != nil || len(n.AllOf)+len(n.AnyOf)+len(n.OneOf) > 0 {
		return "", false
	}
	var types []string
	rest := n.Types
	for _, t := range []struct {
		is   schema.Type
		name string
	}{{schema.String, "string"}, {schema.Boolean, "boolean"}, {schema.Array, "array"}, {schema.Object, "object"}, {schema.Number, "number"}, {schema.Integer, "integer"}, {schema.Null, "null"}} {
		if rest&t.is == t.is && t.is != 0 {
			types = append(types, t.name)
			rest &^= t.is
		}
	}
	if n.Types&schema.Number != 0 && n.Types&schema.Integer != 0 {
		types = slices.DeleteFunc(types, func(t string) bool { return t == "integer" })
	}
	if n.Nullable && !slices.Contains(types, "null") {
		types = append(types, "null")
	}
	if rest != 0 || len(types) == 0 || len(types) == 7 {
		return "", false
	}
	if a := annotationOf(name, n, shared); a != schema.None {
		if i := slices.Index(types, "string"); i >= 0 {
			types[i] = a.String()
		}
	}
	spec := "{ type = " + tomltree.Quote(types[0])
	if len(types) > 1 {
		var quoted []string
		for _, t := range types {
			quoted = append(quoted, tomltree.Quote(t))
		}
		spec = "{ type = [" + strings.Join(quoted, ", ") + "]"
	}
	if required {
		spec += ", required = true"
	}
	if n.Items != nil {
		items, ok := specOf(name, n.Items, shared, false)
		if !ok {
			return "", false
		}
		spec += ", items = " + items
	}
	if len(n.Properties) > 0 {
		var members []string
		for _, p := range n.Properties {
			member, ok := specOf(p.Name, p.Node, nil, slices.Contains(n.Required, p.Name))
			if !ok {
				return "", false
			}
			members = append(members, tomltree.Key(p.Name)+" = "+member)
		}
		spec += ", properties = { " + strings.Join(members, ", ") + " }"
	}
	return spec + " }", true
}

// named are the last words of parameters that name paths, addresses and command lines.
var named = map[schema.Annotation][]string{
	schema.Path:    strings.Fields("dir directories directory dirs file filename filenames filepath filepaths files folder folders path paths"),
	schema.URL:     strings.Fields("uri uris url urls"),
	schema.Command: strings.Fields("cmd command commands"),
}

// annotationOf is the type of a parameter: that of its schema, that of a shared table, or that of its name.
func annotationOf(name string, n *schema.Node, shared []schema.Property) schema.Annotation {
	if n.Annotation != schema.None {
		return n.Annotation
	}
	for _, p := range shared {
		if p.Name == name && p.Node.Annotation != schema.None {
			return p.Node.Annotation
		}
	}
	words := wordsOf(name)
	if len(words) == 0 {
		return schema.None
	}
	for _, a := range []schema.Annotation{schema.Path, schema.URL, schema.Command} {
		if slices.Contains(named[a], words[len(words)-1]) {
			return a
		}
	}
	return schema.None
}
