package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/packs"
)

// What a starter says that a parameter of a tool means, the table of known tools says too, for
// every tool of that name that has the parameter: there is one truth about them.
func TestStartersAgreeWithKnownTools(t *testing.T) {
	compared := 0
	texts := map[string][]byte{}
	for _, kind := range config.Kinds() {
		files, err := config.StarterFor(kind)
		if err != nil {
			t.Fatal(err)
		}
		texts[kind] = files[0].Text
	}
	for _, name := range packs.Names() {
		p, _ := packs.Lookup(name)
		texts[p.File()] = p.Text
	}
	for kind, text := range texts {
		doc, found := tomltree.Parse(kind, text)
		if found.HasErrors() {
			t.Fatal(found)
		}
		tools := member(doc.Root, "tools")
		if tools == nil {
			continue
		}
		for _, table := range tools.Entries {
			names := []string{table.Key}
			if also := member(table.Value, "also"); also != nil {
				for _, e := range also.Elements {
					names = append(names, e.Text)
				}
			}
			parameters := member(table.Value, "parameters")
			if parameters == nil || table.Key == "*" {
				continue
			}
			for _, name := range names {
				for _, row := range knowntools.ByName(name) {
					for _, p := range parameters.Entries {
						i := slices.IndexFunc(row.Parameters, func(k knowntools.Parameter) bool { return k.String() == p.Key })
						if i < 0 {
							continue
						}
						says, knows := textAt(p.Value, "type"), row.Parameters[i].Kind.Type()
						if knows == "string" && !slices.Contains([]string{"path", "command", "argv", "url", "patch"}, says) {
							continue // neither gives it a meaning
						}
						compared++
						if says != knows && (says != "command" || knows != "argv") {
							t.Errorf("%s: %s of %s is a %s, and a %s in %s", kind, p.Key, name, says, knows, row.Product.Name)
						}
					}
				}
			}
		}
	}
	if compared < 20 {
		t.Errorf("%d parameters were compared", compared)
	}
}

// The definitions that the cases of a starter call are those of known tools, but for one tool of an
// MCP server: a row of the name has every parameter.
func TestStarterToolsAreKnown(t *testing.T) {
	for _, kind := range config.Kinds() {
		files, err := config.StarterFor(kind)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Tools []struct {
				Name   string
				Schema struct{ Properties map[string]any } `json:"input_schema"`
			}
		}
		if err := json.Unmarshal(files[2].Text, &list); err != nil || len(list.Tools) == 0 {
			t.Fatalf("%s: %d tools: %v", files[2].Name, len(list.Tools), err)
		}
		for _, tool := range list.Tools {
			if tool.Name == "tracker__add_comment" {
				continue
			}
			if !slices.ContainsFunc(knowntools.ByName(tool.Name), func(row *knowntools.Tool) bool {
				for name := range tool.Schema.Properties {
					if !slices.ContainsFunc(row.Parameters, func(p knowntools.Parameter) bool { return p.Name == name }) {
						return false
					}
				}
				return true
			}) {
				t.Errorf("%s: no known tool %s has the parameters %v", kind, tool.Name, tool.Schema.Properties)
			}
		}
	}
}

// member returns the value at keys of nested tables, nil if there is none.
func member(v *tomltree.Value, keys ...string) *tomltree.Value {
	for _, key := range keys {
		if v == nil || v.Kind != tomltree.Table {
			return nil
		}
		e := v.Get(key)
		if e == nil {
			return nil
		}
		v = e.Value
	}
	return v
}

func textAt(v *tomltree.Value, keys ...string) string {
	if v = member(v, keys...); v == nil || v.Kind != tomltree.String {
		return ""
	}
	return v.Text
}
