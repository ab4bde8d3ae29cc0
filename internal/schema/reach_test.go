package schema_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

const treeSchema = `{"type":"object","required":["path","patterns"],"properties":{
	"path":{"type":"string","x-stopgate-type":"path"},
	"patterns":{"type":"array","items":{"type":"object","required":["old"],"properties":{
		"old":{"type":"string"},"paths":{"type":"array","items":{"type":"string","x-stopgate-type":"path"}}}}},
	"grid":{"type":"array","items":{"type":"array","items":{"type":"integer"}}},
	"one_or_many":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}},{"type":"null"}]},
	"opts":{"type":"object","required":["mode"],"properties":{"mode":{"type":"string"},"a/b":{"type":"number"},"*":{"type":"boolean"},"0":{"type":"null"}}},
	"env":{"type":"object","additionalProperties":{"type":"string"}},
	"meta":{"type":"object"},
	"any":{},
	"tree":{"$ref":"#/$defs/tree"},
	"cond":{"properties":{"x":{"type":"string"}},"if":{},"then":{"properties":{"y":{}}}},
	"mixed":{"anyOf":[{"type":"object","properties":{"0":{"type":"string"},"k":{"type":"number"}}},{"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}}}}]},
	"pair":{"prefixItems":[{"type":"string"},{"type":"number"}]},
	"list_of_maps":{"type":"array","items":{"type":"object"}}},
	"$defs":{"tree":{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}}}`

// Proves D25-12, D25-13, D25-15, K22, K23, Q1.
func TestReach(t *testing.T) {
	s := parse(t, treeSchema)
	tests := []struct {
		pointer, expanded string
		types             schema.Type
		annotation        schema.Annotation
		array, optional   bool
		unknown           bool
	}{
		{"/path", "/path", schema.String, schema.Path, false, false, false},
		{"/patterns", "/patterns/*", schema.Array | schema.Object, 0, true, true, false},
		{"/patterns/*", "/patterns/*", schema.Object, 0, true, true, false},
		{"/patterns/old", "/patterns/*/old", schema.String, 0, true, true, false},
		{"/patterns/*/old", "/patterns/*/old", schema.String, 0, true, true, false},
		{"/patterns/paths", "/patterns/*/paths/*", schema.Array | schema.String, schema.Path, true, true, false},
		{"/patterns/*/paths/*", "/patterns/*/paths/*", schema.String, schema.Path, true, true, false},
		{"/grid", "/grid/*/*", schema.Array | schema.Integer, 0, true, true, false},
		{"/grid/*", "/grid/*/*", schema.Array | schema.Integer, 0, true, true, false},
		{"/grid/*/*", "/grid/*/*", schema.Integer, 0, true, true, false},
		{"/one_or_many", "/one_or_many/*", schema.String | schema.Array, 0, true, true, false},
		{"/opts/mode", "/opts/mode", schema.String, 0, false, true, false},
		{"/opts/a~1b", "/opts/a~1b", schema.Number, 0, false, true, false},
		{"/opts/*", "/opts/*", schema.Boolean, 0, false, true, false},
		{"/opts/0", "/opts/0", 0, 0, false, true, false},
		{"/env/PATH", "/env/PATH", schema.String, 0, false, true, false},
		{"/env/*", "/env/*", schema.String, 0, false, true, false},
		{"/env/7", "/env/7", schema.String, 0, false, true, false},
		{"/meta/x/y", "/meta/x/y", schema.AnyType &^ schema.Null, 0, true, true, true},
		{"/any", "/any", schema.AnyType &^ schema.Null, 0, true, true, true},
		{"/any/x", "/any/x", schema.AnyType &^ schema.Null, 0, true, true, true},
		{"/tree/kids/kids/name", "/tree/kids/*/kids/*/name", schema.String, 0, true, true, false},
		{"/cond/x", "/cond/x", schema.String, 0, true, true, true},
		{"/cond/y", "/cond/y", schema.AnyType &^ schema.Null, 0, true, true, true},
		{"/mixed/k", "/mixed/*/k", schema.String | schema.Number, 0, true, true, false},
		{"/mixed/0", "/mixed/*/0", schema.String, 0, true, true, false},
		{"/pair", "/pair/*", schema.AnyType &^ schema.Null, 0, true, true, false},
		{"/pair/*", "/pair/*", schema.String | schema.Number, 0, true, true, false},
	}
	for _, test := range tests {
		t.Run(test.pointer, func(t *testing.T) {
			r := s.Reach(pointer(t, test.pointer))
			if r.Missing != -1 {
				t.Fatalf("segment %d is missing: %s", r.Missing, r.Problem)
			}
			if r.Types != test.types || r.Annotation != test.annotation || r.CrossesArray != test.array || r.Optional != test.optional || r.Unknown != test.unknown {
				t.Errorf("%v %q array %v optional %v unknown %v", r.Types, r.Annotation, r.CrossesArray, r.Optional, r.Unknown)
			}
			if r.Expanded != test.expanded {
				t.Errorf("expanded %s, want %s", r.Expanded, test.expanded)
			}
			if len(r.Locations) == 0 {
				t.Error("no places")
			}
		})
	}
}

// Proves D25-15, K22: the first segment that does not resolve is named, with a reason and a
// suggestion.
func TestReachMissing(t *testing.T) {
	s := parse(t, treeSchema)
	aliased, err := schema.FromParameters([]schema.Parameter{{Name: "path", Type: []string{"path"}, Aliases: []string{"file"}}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		schema                                 *schema.Schema
		pointer                                string
		missing                                int
		problem, suggestion, expandedUpToThere string
	}{
		{s, "", 0, "the whole call", "", ""},
		{s, "/pth", 0, "no parameter is named \"pth\"", "path", ""},
		{s, "/Path", 0, "no parameter is named", "path", ""},
		{s, "/oneOrMany", 0, "no parameter is named", "one_or_many", ""},
		{s, "/zzzzzz", 0, "no parameter is named", "", ""},
		{s, "/patterns/odl", 1, "no parameter is named", "old", "/patterns"},
		{s, "/patterns/*/odl", 2, "no parameter is named", "old", "/patterns/*"},
		{s, "/patterns/0/old", 1, "not addressed by index", "*", "/patterns"},
		{s, "/patterns/-", 1, "not addressed by index", "*", "/patterns"},
		{s, "/list_of_maps/0", 1, "not addressed by index", "*", "/list_of_maps"},
		{s, "/path/x", 1, "nothing below a string", "", "/path"},
		{s, "/grid/x", 1, "nothing below an integer or an array", "", "/grid"},
		{s, "/path/*", 1, "nothing below a string", "", "/path"},
		{s, "/*", 0, "there is none here", "", ""},
		{s, "/patterns/*/paths/*/*", 4, "nothing below a string", "", "/patterns/*/paths/*"},
		{s, "/cond/x/y", 2, "nothing below a string", "", "/cond/x"},
		{aliased, "/file", 0, "is an alias", "path", ""},
		{parse(t, `{"properties":{"a":{}},"additionalProperties":false}`), "/b", 0, "no parameter is named", "a", ""},
		{parse(t, `{"properties":{"a":false}}`), "/a/b", 1, "nothing below nothing", "", "/a"},
	}
	for _, test := range tests {
		t.Run(test.pointer, func(t *testing.T) {
			r := test.schema.Reach(pointer(t, test.pointer))
			if r.Missing != test.missing || !strings.Contains(r.Problem, test.problem) || r.Suggestion != test.suggestion || r.Expanded != test.expandedUpToThere {
				t.Errorf("%+v", r)
			}
			if r.Types != 0 || r.Locations != nil {
				t.Errorf("a pointer that does not resolve reaches %v", r.Types)
			}
		})
	}
}

// Proves K22: in an unknown schema pointers reach everything, and arrays are crossed.
func TestReachUnknownSchema(t *testing.T) {
	for _, p := range []string{"/a", "/a/b", "/a/*", "/a/0"} {
		r := (*schema.Schema)(nil).Reach(pointer(t, p))
		if r.Missing != -1 || !r.Unknown || !r.CrossesArray || !r.Optional || r.Expanded != p {
			t.Errorf("%s: %+v", p, r)
		}
	}
}

// Proves K1, B7: all parameters of a tool can be listed, recursive ones once.
func TestAll(t *testing.T) {
	s := parse(t, treeSchema)
	var got []string
	for p, loc := range s.All() {
		got = append(got, p.String()+" "+loc.Types().String())
	}
	want := []string{
		"/path string", "/patterns array", "/patterns/* object", "/patterns/*/old string", "/patterns/*/paths array", "/patterns/*/paths/* string",
		"/grid array", "/grid/* array", "/grid/*/* integer", "/one_or_many string or array or null", "/one_or_many/* string",
		"/opts object", "/opts/mode string", "/opts/a~1b number", "/opts/* boolean", "/opts/0 null", "/env object", "/meta object", "/any anything",
		"/tree object", "/tree/name string", "/tree/kids array", "/tree/kids/* object", "/tree/kids/*/name string", "/tree/kids/*/kids array",
		"/cond anything", "/cond/x string", "/mixed array or object", "/mixed/0 string", "/mixed/k number", "/mixed/* object", "/mixed/*/k string",
		"/pair anything", "/pair/* string or number", "/list_of_maps array", "/list_of_maps/* object",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	count := 0
	for range s.All() {
		if count++; count == 4 {
			break
		}
	}
	if count != 4 {
		t.Errorf("stopped after %d", count)
	}
}

// Proves A18: All terminates for a schema with exponentially many pointers.
func TestAllIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 60 {
		next := jsonstream.Pointer{"$defs", "d" + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))}.String()
		name := "d" + string(rune('0'+i/10)) + string(rune('0'+i%10))
		if i == 0 {
			name = "d0"
		}
		b.WriteString(`"` + name + `":{"properties":{"a":{"$ref":"#` + next + `"},"b":{"$ref":"#` + next + `"}}},`)
	}
	b.WriteString(`"d60":{}}}`)
	count := 0
	for range parse(t, b.String()).All() {
		count++
	}
	if count != 10_000 {
		t.Errorf("%d pointers", count)
	}
}
