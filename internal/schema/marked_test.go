package schema_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/schema"
)

// A definition can count as completely declared, or as not declared at all.
func TestMarked(t *testing.T) {
	s, _, err := schema.ParseJSON([]byte(`{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"}],"items":{"anyOf":[{"type":"string"},
		{"type":"object","additionalProperties":{"type":"string"}}]}},"b":{"allOf":[{"type":"string"}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	tabled := func(s *schema.Schema) (all []bool) {
		for _, p := range s.All() {
			all = append(all, p.Tabled())
		}
		return all
	}
	for _, declared := range []bool{true, false} {
		marked := schema.Marked(schema.Marked(s, true), declared)
		if marked.Hash() != s.Hash() || len(tabled(marked)) != len(tabled(s)) {
			t.Error("the schema has changed")
		}
		for i, is := range tabled(marked) {
			if is != declared {
				t.Errorf("place %d: %t, want %t", i, is, declared)
			}
		}
	}
	for _, is := range tabled(s) {
		if is {
			t.Error("the schema that was marked has changed")
		}
	}
	if schema.Marked(nil, true) != nil {
		t.Error("nothing is marked")
	}
}
