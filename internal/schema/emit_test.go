package schema_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/schema"
)

// Proves D25-17, D26-29: a schema is printed with everything that is understood of it, and printing
// is idempotent.
func TestToJSONSchema(t *testing.T) {
	tests := []struct{ text, want string }{
		{`true`, `{}`},
		{`false`, `false`},
		{`{"type":["string","null"],"description":"d","x-stopgate-type":"path","format":"date","examples":["x"]}`, `{"type":["string","null"],"description":"d"}`},
		{`{"type":["string","number","integer","boolean","array","object","null"]}`, `{}`},
		{`{"type":"integer","nullable":true}`, `{"type":["integer","null"]}`},
		{`{"nullable":true}`, `{}`},
		{`{"type":"string","nullable":true,"enum":["a"]}`, `{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]}`},
		{`{"properties":{"z":{"nullable":true,"anyOf":[{"type":"string"}]},"a":false}}`, `{"properties":{"z":{"anyOf":[{"anyOf":[{"type":"string"}]},{"type":"null"}]},"a":false}}`},
		{`{"enum":[1.0,"a",null,{"b":[true]}],"const":1e0,"default":{"x":"\u0061"}}`, `{"enum":[1.0,"a",null,{"b":[true]}],"const":1e0,"default":{"x":"\u0061"}}`},
		{`{"minimum":1,"exclusiveMinimum":true,"maximum":1e1,"multipleOf":0.5,"minLength":1,"maxLength":2,"pattern":"\"a"}`,
			`{"maximum":10,"exclusiveMinimum":1,"multipleOf":0.5,"minLength":1,"maxLength":2,"pattern":"\"a"}`},
		{`{"items":[{"type":"null"}],"additionalItems":{"type":"number"},"minItems":1,"maxItems":2,"uniqueItems":true,"contains":{},"minContains":0,"maxContains":5}`,
			`{"prefixItems":[{"type":"null"}],"items":{"type":"number"},"minItems":1,"maxItems":2,"uniqueItems":true,"contains":{},"minContains":0,"maxContains":5}`},
		{`{"properties":{},"required":["a","b"],"additionalProperties":{"type":"null"},"patternProperties":{"^a":{}},"propertyNames":{"maxLength":3},"minProperties":1,"maxProperties":2,"dependencies":{"a":["b"],"c":{"required":["d"]}}}`,
			`{"properties":{},"required":["a","b"],"additionalProperties":{"type":"null"},"patternProperties":{"^a":{}},"propertyNames":{"maxLength":3},"minProperties":1,"maxProperties":2,"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"required":["d"]}}}`},
		{`{"allOf":[{}],"anyOf":[{"title":"t"}],"oneOf":[true],"not":false,"if":{"type":"object"},"then":{"minProperties":1},"else":{}}`,
			`{"allOf":[{}],"anyOf":[{"title":"t"}],"oneOf":[{}],"not":false,"if":{"type":"object"},"then":{"minProperties":1},"else":{}}`},
		{`{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#/definitions/x~1y"},"c":{"$ref":"#/$defs/x~1y"}},"definitions":{"x/y":{"type":"null"},"unused":{},"z":{"title":"z"}},"$defs":{"x/y":{"$ref":"#/definitions/z"}}}`,
			`{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#/$defs/x~1y"},"c":{"$ref":"#/$defs/x~1y-2"}},"$defs":{"x/y":{"type":"null"},"x/y-2":{"$ref":"#/$defs/z"},"z":{"title":"z"}}}`},
		{`{"$ref":"#/$defs/t","$defs":{"t":{"properties":{"k":{"items":{"$ref":"#/$defs/t"}}}}}}`,
			`{"$ref":"#/$defs/t","$defs":{"t":{"properties":{"k":{"items":{"$ref":"#/$defs/t"}}}}}}`},
		{`{"properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}}}`, `{"properties":{"a":{"type":"string"},"b":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`},
	}
	for _, test := range tests {
		s, _, err := schema.ParseJSON([]byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		got := string(s.ToJSONSchema())
		if got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
		if second := string(parse(t, got).ToJSONSchema()); second != got {
			t.Errorf("printed again\n got %s\nwant %s", second, got)
		}
	}
}

// Proves G4: the hash distinguishes all content of a source, but not its order.
func TestHash(t *testing.T) {
	same := [][2]string{
		{`{"type":"string","properties":{"a":{},"b":{}}}`, `{ "properties" : {"b":{},"a":{}},"type":"string"}`},
		{`{"maximum":1.0}`, `{"maximum":1e0}`},
	}
	for _, pair := range same {
		if parse(t, pair[0]).Hash() != parse(t, pair[1]).Hash() {
			t.Errorf("%s and %s differ", pair[0], pair[1])
		}
	}
	seen := map[string]string{}
	add := func(name string, s *schema.Schema) {
		t.Helper()
		if h := s.Hash(); len(h) != 64 || seen[h] != "" {
			t.Errorf("%s has the hash of %s: %s", name, seen[h], h)
		} else {
			seen[h] = name
		}
	}
	for _, text := range []string{`{}`, `true`, `{"title":"a"}`, `{"description":"a"}`, `{"format":"path"}`, `{"x-stopgate-type":"path"}`, `{"nonsense":1}`, `{"pattern":"(?=a)"}`} {
		add(text, parse(t, text))
	}
	text := []string{"string"}
	for name, p := range map[string]schema.Parameter{
		"string": {Name: "a", Type: text}, "path": {Name: "a", Type: []string{"path"}}, "expands": {Name: "a", Type: text, Expands: true},
		"alias": {Name: "a", Type: text, Aliases: []string{"b"}}, "required": {Name: "a", Type: text, Required: true},
		"described": {Name: "a", Type: text, Description: "d"}, "deep": {Name: "a", Properties: []schema.Parameter{{Name: "a", Type: text, Aliases: []string{"b"}}}},
	} {
		add(name, declare(t, p))
		if declare(t, p).Hash() != declare(t, p).Hash() {
			t.Errorf("%s: the hash changes", name)
		}
	}
	add("unknown", nil)
}

// The names in diagnostics.
func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"nothing": schema.Type(0).String(), "anything": schema.AnyType.String(), "string or null": (schema.String | schema.Null).String(),
		"integer": schema.Integer.String(), "path": schema.Path.String(), "url": schema.URL.String(), "command": schema.Command.String(), "patch": schema.Patch.String(), "": schema.None.String(),
		"undeclared": schema.Undeclared.String(), "free-form": schema.FreeForm.String(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if schema.Annotation(99).String() != "" || schema.MemberKind(99).String() != "undeclared" {
		t.Error("names of what does not exist")
	}
	for _, name := range []string{"string", "number", "integer", "boolean", "array", "object", "null"} {
		if typ, ok := schema.ParseType(name); !ok || typ.String() != name {
			t.Error(name)
		}
	}
	for _, name := range []string{"path", "command", "url", "patch"} {
		if a, ok := schema.ParseAnnotation(name); !ok || a.String() != name {
			t.Error(name)
		}
	}
	if _, ok := schema.ParseType("any"); ok {
		t.Error("any is a type")
	}
	if _, ok := schema.ParseAnnotation(""); ok {
		t.Error("nothing is an annotation")
	}
	if schema.Number.Union(schema.Integer) != schema.Number || schema.Number.Intersect(schema.Integer|schema.String) != schema.Integer || schema.AnyType.Intersect(schema.Number) != schema.Number {
		t.Error("an integer is a number")
	}
}
