package schema_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves S40, D25-17: an argument vector is one value, which no pointer crosses; models see a list
// of strings, and only lists of strings are accepted.
func TestVectors(t *testing.T) {
	file := declare(t, schema.Parameter{Name: "command", Type: []string{"argv"}, Required: true},
		schema.Parameter{Name: "either", Type: []string{"argv", "string"}}, schema.Parameter{Name: "lines", Type: []string{"array"}, Items: &schema.Parameter{Type: []string{"argv"}}})
	if got, want := string(file.ToJSONSchema()), `"command":{"type":"array","items":{"type":"string"}}`; !strings.Contains(got, want) {
		t.Errorf("models see %s", got)
	}
	second := parse(t, `{"type":"object","required":["command"],"properties":{"command":{"type":"array","items":{"type":"string"},"x-stopgate-type":"argv"},
		"either":{"anyOf":[{"type":"array","format":"argv"},{"type":"string"}]},"lines":{"type":"array","items":{"type":"array","x-stopgate-type":"argv"}}}}`)
	over, err := schema.Overlay(parse(t, `{"properties":{"command":{"type":"array","items":{"type":"string"}},"either":{},"lines":{}}}`), file)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*schema.Schema{"parameters": file, "JSON Schema": second, "overlay": over} {
		for text, crosses := range map[string]bool{"/command": false, "/either": false, "/lines": true} {
			r := s.Reach(pointer(t, text))
			if r.Missing >= 0 || r.Types&schema.String == 0 || r.CrossesArray != crosses || r.Annotation != schema.Argv {
				t.Errorf("%s %s: %+v", name, text, r)
			}
		}
		for _, text := range []string{"/command/*", "/command/0", "/lines/*/*"} {
			if r := s.Reach(pointer(t, text)); r.Missing < 0 || !strings.Contains(r.Problem, "the words of an argument vector") {
				t.Errorf("%s %s: %+v", name, text, r)
			}
		}
		for pointer := range s.All() {
			if p := pointer.String(); p != "/command" && p != "/either" && p != "/lines" && p != "/lines/*" {
				t.Errorf("%s has %s", name, p)
			}
		}
	}
	for text, fits := range map[string]bool{`{"command":["a",""]}`: true, `{"command":"a"}`: false, `{"command":[1]}`: false, `{"command":[["a"]]}`: false} {
		v, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
		if err != nil || (file.Validate(v) == nil) != fits {
			t.Errorf("%s: %v", text, file.Validate(v))
		}
	}
	for _, p := range []schema.Parameter{
		{Name: "x", Type: []string{"argv"}, Items: &schema.Parameter{Type: []string{"string"}}},
		{Name: "x", Type: []string{"argv", "command"}},
	} {
		if _, err := schema.FromParameters([]schema.Parameter{p}); err == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
}
