package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/schema"
)

func declare(t *testing.T, list ...schema.Parameter) *schema.Schema {
	t.Helper()
	s, err := schema.FromParameters(list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Proves K25: the file annotates, adds aliases, requires and tightens the server's schema; both
// apply.
func TestOverlay(t *testing.T) {
	base := parse(t, `{"type":"object","properties":{
		"path":{"$ref":"#/$defs/text"},"other":{"$ref":"#/$defs/text"},"n":{"type":"number"},
		"edits":{"type":"array","items":{"properties":{"file":{"type":"string"},"x":{}}}},
		"env":{"additionalProperties":{"type":"string"}},"free":{}},"$defs":{"text":{"type":"string","maxLength":5}}}`)
	file := declare(t,
		schema.Parameter{Name: "n", Type: []string{"integer"}, Maximum: "9"},
		schema.Parameter{Name: "path", Type: []string{"path"}, Required: true, Expands: true, Aliases: []string{"file"}},
		schema.Parameter{Name: "edits", Items: &schema.Parameter{Properties: []schema.Parameter{{Name: "file", Type: []string{"path"}}}}},
		schema.Parameter{Name: "env", Type: []string{"object"}, Additional: &schema.AdditionalParameter{Schema: &schema.Parameter{Type: []string{"command"}}}},
		schema.Parameter{Name: "free", Properties: []schema.Parameter{{Name: "deep", Type: []string{"url"}}}})
	s, err := schema.Overlay(base, file)
	if err != nil {
		t.Fatal(err)
	}
	if s.Source != schema.Overlaid {
		t.Error(s.Source)
	}
	for text, want := range map[string]struct {
		types      schema.Type
		annotation schema.Annotation
	}{
		"/path": {schema.String, schema.Path}, "/other": {schema.String, schema.None}, "/n": {schema.Integer, schema.None},
		"/edits/file": {schema.String, schema.Path}, "/env/X": {schema.String, schema.Command}, "/free/deep": {schema.String, schema.URL},
	} {
		r := s.Reach(pointer(t, text))
		if r.Missing != -1 || r.Types != want.types || r.Annotation != want.annotation || r.Expands != (text == "/path") {
			t.Errorf("%s: %+v", text, r)
		}
	}
	var names []string
	for _, d := range s.Location().Properties() {
		names = append(names, d.Name)
		if d.Required != (d.Name == "path") {
			t.Errorf("%s: required %v", d.Name, d.Required)
		}
	}
	if got := strings.Join(names, " "); got != "path other n edits env free" {
		t.Errorf("order %s", got)
	}
	for key, kind := range map[string]schema.MemberKind{"path": schema.DeclaredName, "file": schema.Alias, "x": schema.Undeclared} {
		if got := s.Location().Member([]byte(key)).Kind; got != kind {
			t.Errorf("%s is %v", key, got)
		}
	}
	for text, fits := range map[string]bool{
		`{"path":"a"}`: true, `{"file":"a","n":9}`: true, `{}`: false, `{"path":"abcdef"}`: false, `{"path":"a","n":10}`: false, `{"path":"a","n":1.5}`: false,
		`{"path":"a","env":{"A":1}}`: false,
	} {
		if (s.Validate(value(t, text)) == nil) != fits {
			t.Errorf("%s", text)
		}
	}
	const printed = `{"type":"object","allOf":[{"type":"object","properties":{"path":{"$ref":"#/$defs/text"},`
	if got := string(s.ToJSONSchema()); !strings.HasPrefix(got, printed) || !strings.Contains(got, `"$defs":{"text":{"type":"string","maxLength":5}}`) {
		t.Error(got)
	}
	if s.Hash() == base.Hash() || s.Hash() == file.Hash() || len(s.Hash()) != 64 {
		t.Error("the hash is that of one part")
	}
}

// Proves K25: if models write null for an absent value, a type in the file does not reject it; if
// the schema is unknown, it does.
func TestOverlayKeepsNull(t *testing.T) {
	base := parse(t, `{"properties":{"path":{"type":["string","null"]},"n":{"type":"number"},"list":{"items":{"anyOf":[{"type":"string"},{"type":"null"}]}},
		"opts":{"type":["object","null"],"properties":{"x":{"type":"string","nullable":true}},"additionalProperties":{"type":["string","null"]}},"any":{}},"additionalProperties":true}`)
	path := schema.Parameter{Type: []string{"path"}}
	s, err := schema.Overlay(base, declare(t,
		schema.Parameter{Name: "path", Type: []string{"path"}, Enum: []string{`"a"`}},
		schema.Parameter{Name: "n", Type: []string{"integer"}},
		schema.Parameter{Name: "list", Items: &path},
		schema.Parameter{Name: "opts", Properties: []schema.Parameter{{Name: "x", Type: []string{"command"}}}, Additional: &schema.AdditionalParameter{Schema: &path}},
		schema.Parameter{Name: "any", Type: []string{"string"}},
		schema.Parameter{Name: "new", Type: []string{"string"}}))
	if err != nil {
		t.Fatal(err)
	}
	for text, fits := range map[string]bool{
		`{"path":null}`: true, `{"path":"a"}`: true, `{"path":"b"}`: false, `{"n":null}`: false, `{"list":["a",null]}`: true, `{"list":[1]}`: false,
		`{"opts":null}`: true, `{"opts":{"x":null,"y":null}}`: true, `{"opts":{"x":1}}`: false, `{"any":null}`: true, `{"any":1}`: false, `{"new":null}`: false,
	} {
		if v := s.Validate(value(t, text)); (v == nil) != fits {
			t.Errorf("%s: %v", text, v)
		}
	}
	if r := s.Reach(pointer(t, "/path")); r.Types != schema.String || r.Annotation != schema.Path {
		t.Errorf("%+v", r)
	}
}

// Proves K25, B6: a contradiction between the file and the server's schema makes the policy invalid
// for the schema.
func TestOverlayContradictions(t *testing.T) {
	base := parse(t, `{"properties":{"a":{"type":"string"},"b":{"properties":{"c":{"type":"number"}}},"l":{"items":{"type":"integer"}},
		"m":{"additionalProperties":{"type":"string"}},"closed":{"additionalProperties":false}}}`)
	text := []string{"string"}
	tests := []struct {
		name             string
		parameter        schema.Parameter
		pointer, message string
	}{
		{"unknown parameter", schema.Parameter{Name: "x", Type: text}, "/x", "is not a parameter of the tool's schema"},
		{"case variant", schema.Parameter{Name: "A", Type: text}, "/A", "is not a parameter"},
		{"another type", schema.Parameter{Name: "a", Type: []string{"number"}}, "/a", "is a number in the policy and a string in the tool's schema"},
		{"annotation of a number", schema.Parameter{Name: "b", Properties: []schema.Parameter{{Name: "c", Type: []string{"path"}}}}, "/b/c", "is a string in the policy and a number"},
		{"nested unknown parameter", schema.Parameter{Name: "b", Properties: []schema.Parameter{{Name: "x/y", Type: text}}}, "/b/x~1y", "is not a parameter"},
		{"elements", schema.Parameter{Name: "l", Items: &schema.Parameter{Type: text}}, "/l/*", "is a string in the policy and an integer"},
		{"values of a map", schema.Parameter{Name: "m", Type: []string{"object"}, Additional: &schema.AdditionalParameter{Schema: &schema.Parameter{Type: []string{"number"}}}}, "/m/*", "is a number in the policy"},
		{"member of a closed object", schema.Parameter{Name: "closed", Properties: []schema.Parameter{{Name: "x", Type: text}}}, "/closed/x", "is not a parameter"},
		{"alias that is another parameter", schema.Parameter{Name: "a", Type: text, Aliases: []string{"b"}}, "/a", `the alias "b", which is another parameter`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := schema.Overlay(base, declare(t, test.parameter))
			var failed *schema.OverlayError
			if !errors.As(err, &failed) || s != nil || failed.Pointer != test.pointer || !strings.Contains(failed.Message, test.message) {
				t.Fatalf("%v", err)
			}
			if failed.Error() != failed.Pointer+": "+failed.Message {
				t.Error(failed.Error())
			}
		})
	}
}

// Proves K25, K23: if one of both is unknown the other applies, also at locations below.
func TestOverlayUnknown(t *testing.T) {
	file := declare(t, schema.Parameter{Name: "a", Type: []string{"path"}})
	for name, base := range map[string]*schema.Schema{"nil": nil, "hidden": parse(t, `{"properties":{"b":{}},"$ref":"https://example.com"}`), "map": parse(t, `{"type":"object"}`)} {
		s, err := schema.Overlay(base, file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r := s.Reach(pointer(t, "/a")); r.Annotation != schema.Path {
			t.Errorf("%s: %+v", name, r)
		}
	}
	base := parse(t, `{"properties":{"a":{}}}`)
	if s, err := schema.Overlay(base, nil); s != base || err != nil {
		t.Errorf("%v", err)
	}
	if s, err := schema.Overlay(nil, file); s != file || err != nil {
		t.Errorf("%v", err)
	}
	if _, err := schema.Overlay(&schema.Schema{}, file); err == nil {
		t.Error("the zero Schema is overlaid")
	}
	if _, err := schema.Overlay(base, &schema.Schema{}); err == nil {
		t.Error("the zero Schema overlays")
	}
}

// Proves A18: an overlay that exceeds a limit of schemas is rejected.
func TestOverlayTooLarge(t *testing.T) {
	base := parse(t, chain(99))
	_, err := schema.Overlay(base, declare(t, schema.Parameter{Name: "a", Type: []string{"string"}}))
	var failed *schema.OverlayError
	if !errors.As(err, &failed) || !strings.Contains(failed.Message, "nest too deep") {
		t.Errorf("%v", err)
	}
}
