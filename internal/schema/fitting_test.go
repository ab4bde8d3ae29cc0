package schema_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/schema"
)

// Proves D25-47, K24, K25: the parameters of a table for many tools annotate those that a tool has,
// and have no effect on others.
func TestFitting(t *testing.T) {
	file, err := schema.FromParameters([]schema.Parameter{
		{Name: "path", Type: []string{"path"}, Required: true}, {Name: "file_path", Type: []string{"path"}}, {Name: "count", Type: []string{"path"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	base, _, err := schema.ParseJSON([]byte(`{"type":"object","properties":{"path":{"type":"string"},"count":{"type":"integer"},"content":{"type":"string"}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	both, err := schema.Overlay(base, schema.Fitting(base, file))
	if err != nil {
		t.Fatal(err)
	}
	root := both.Location()
	if m := root.Member([]byte("path")); m.Kind != schema.DeclaredName || m.Location.Annotation() != schema.Path {
		t.Errorf("path is not a path: %+v", m)
	}
	if m := root.Member([]byte("count")); m.Kind != schema.DeclaredName || m.Location.Types() != schema.Integer {
		t.Errorf("count is %v, want an integer as the tool says", m.Location.Types())
	}
	if m := root.Member([]byte("file_path")); m.Kind == schema.DeclaredName {
		t.Error("file_path is declared, but the tool does not have it")
	}
	if !both.RequiresNothing() {
		t.Error("a table for many tools requires a parameter")
	}
	if open := schema.Fitting(nil, file); open == nil || open.Location().Member([]byte("other")).Kind != schema.FreeForm {
		t.Error("without a definition further parameters are not open")
	}
	usual, _, _ := schema.ParseJSON([]byte(`{"type":"object","properties":{"path":{"type":"string"}}}`))
	both, err = schema.Overlay(usual, schema.Fitting(usual, file))
	if err != nil {
		t.Fatal(err)
	}
	if m := both.Location().Member([]byte("depth")); m.Kind != schema.Undeclared {
		t.Error("a table for many tools makes a parameter that the tool does not declare look like data (K24)")
	}
	anything, _, _ := schema.ParseJSON([]byte(`{"type":"object"}`))
	both, err = schema.Overlay(anything, schema.Fitting(anything, file))
	if err != nil {
		t.Fatal(err)
	}
	if m := both.Location().Member([]byte("path")); m.Kind != schema.DeclaredName || m.Location.Annotation() != schema.Path {
		t.Error("a tool whose schema names no parameters takes no type from the table for many tools")
	}
	if m := both.Location().Member([]byte("other")); m.Kind != schema.FreeForm {
		t.Error("a table for many tools closes a schema that names no parameters")
	}
	none, _, _ := schema.ParseJSON([]byte(`{"type":"object","properties":{"x":{"type":"string"}}}`))
	if schema.Fitting(none, file) != nil || schema.Fitting(base, nil) != nil {
		t.Error("something is left of nothing")
	}
}

// Members of parameters that the tool does not have are left out at every depth. Those that follow
// keep their own types, and nothing that is left out is required.
func TestFittingOmitsMembers(t *testing.T) {
	edit := schema.Parameter{Properties: []schema.Parameter{
		{Name: "old", Type: []string{"string"}, Required: true}, {Name: "target", Type: []string{"path"}}, {Name: "new", Type: []string{"string"}},
	}}
	file, err := schema.FromParameters([]schema.Parameter{
		{Name: "gone", Type: []string{"string"}}, {Name: "edits", Items: &edit}, {Name: "path", Type: []string{"path"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	base, _, err := schema.ParseJSON([]byte(`{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","properties":{"new":{"type":"string"},"target":{"type":"string"}},"additionalProperties":false}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	fitting := schema.Fitting(base, file)
	if _, err := schema.Overlay(base, fitting); err != nil {
		t.Fatal(err)
	}
	root := fitting.Location()
	if m := root.Member([]byte("path")); m.Kind != schema.DeclaredName || m.Location.Annotation() != schema.Path {
		t.Errorf("path is not a path: %+v", m)
	}
	items := root.Member([]byte("edits")).Location.Items()
	if m := items.Member([]byte("target")); m.Kind != schema.DeclaredName || m.Location.Annotation() != schema.Path {
		t.Errorf("target is not a path: %+v", m)
	}
	if m := items.Member([]byte("new")); m.Kind != schema.DeclaredName || m.Location.Annotation() == schema.Path {
		t.Errorf("new is %+v", m)
	}
	if m := items.Member([]byte("old")); m.Kind == schema.DeclaredName {
		t.Error("old is declared, but the tool does not have it")
	}
	if !fitting.RequiresNothing() {
		t.Error("a member that the tool does not have is required")
	}
}
