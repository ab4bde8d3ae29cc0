package schema_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/schema"
)

func number(n int) *int { return &n }

// modifyFile returns the tool of D25 and D26 with its declared parameters.
func modifyFile() []schema.Parameter {
	return []schema.Parameter{
		{Name: "path", Type: []string{"path"}, Description: "what to patch"},
		{Name: "patterns", Type: []string{"array"}, Required: true, MinItems: number(1), Items: &schema.Parameter{
			Type: []string{"object"}, Properties: []schema.Parameter{
				{Name: "paths", Type: []string{"array"}, Items: &schema.Parameter{Type: []string{"path"}, Expands: true}},
				{Name: "old", Type: []string{"string"}, Required: true, MaxLength: number(10), Pattern: "^[^x]*$"},
			}}},
		{Name: "command", Type: []string{"command", "null"}, Aliases: []string{"cmd"}, Default: `"ls"`},
		{Name: "at", Type: []string{"url"}, Title: "where"},
		{Name: "count", Type: []string{"integer"}, Minimum: "0", ExclusiveMaximum: "1e2", MultipleOf: "2", Default: "4"},
		{Name: "ratio", Type: []string{"number"}, ExclusiveMinimum: "-0.5", Maximum: "9007199254740992"},
		{Name: "kind", Type: []string{"string"}, Enum: []string{`"a"`, `"b"`}, MinLength: number(1)},
		{Name: "fixed", Type: []string{"boolean"}, Const: "true"},
		{Name: "env", Type: []string{"object"}, Additional: &schema.AdditionalParameter{Schema: &schema.Parameter{Type: []string{"string"}}}, MaxProperties: number(9)},
		{Name: "opts", Properties: []schema.Parameter{{Name: "x", Type: []string{"string", "array"}}}, Additional: &schema.AdditionalParameter{}, MinProperties: number(0)},
		{Name: "list", Items: &schema.Parameter{Type: []string{"integer"}}, UniqueItems: true, MaxItems: number(3)},
		{Name: "any", Type: []string{"object"}, Additional: &schema.AdditionalParameter{Allowed: true}},
	}
}

// Proves D25-16, D25-17, D26-29: models see the declared parameters in order, with plain strings
// for path, command and url.
func TestFromParametersPrints(t *testing.T) {
	s, err := schema.FromParameters(modifyFile())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{` +
		`"path":{"type":"string","description":"what to patch"},` +
		`"patterns":{"type":"array","items":{"type":"object","properties":{` +
		`"paths":{"type":"array","items":{"type":"string"}},` +
		`"old":{"type":"string","maxLength":10,"pattern":"^[^x]*$"}},"required":["old"]},"minItems":1},` +
		`"command":{"type":["string","null"],"default":"ls"},` +
		`"at":{"type":"string","title":"where"},` +
		`"count":{"type":"integer","default":4,"minimum":0,"exclusiveMaximum":100,"multipleOf":2},` +
		`"ratio":{"type":"number","maximum":9007199254740992,"exclusiveMinimum":-0.5},` +
		`"kind":{"type":"string","enum":["a","b"],"minLength":1},` +
		`"fixed":{"type":"boolean","const":true},` +
		`"env":{"type":"object","additionalProperties":{"type":"string"},"maxProperties":9},` +
		`"opts":{"type":"object","properties":{"x":{"type":["string","array"]}},"additionalProperties":false,"minProperties":0},` +
		`"list":{"type":"array","items":{"type":"integer"},"maxItems":3,"uniqueItems":true},` +
		`"any":{"type":"object","additionalProperties":true}},"required":["patterns"]}`
	if got := string(s.ToJSONSchema()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if s.Source != schema.FromFile {
		t.Error(s.Source)
	}
}

// Proves D25-16, K24, K25: a file's parameters are annotated, walked and validated, and other keys
// are undeclared.
func TestFromParametersMeaning(t *testing.T) {
	s, err := schema.FromParameters(modifyFile())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]struct {
		types      schema.Type
		annotation schema.Annotation
		expands    bool
	}{
		"/path":           {schema.String, schema.Path, false},
		"/patterns/paths": {schema.String | schema.Array, schema.Path, true},
		"/command":        {schema.String, schema.Command, false},
		"/at":             {schema.String, schema.URL, false},
		"/count":          {schema.Integer, schema.None, false},
		"/ratio":          {schema.Number, schema.None, false},
		"/env/HOME":       {schema.String, schema.None, false},
	} {
		r := s.Reach(pointer(t, text))
		if r.Missing != -1 || r.Types != want.types || r.Annotation != want.annotation || r.Expands != want.expands {
			t.Errorf("%s: %+v", text, r)
		}
	}
	if kind := s.Location().Member([]byte("root")).Kind; kind != schema.Undeclared {
		t.Errorf("an undeclared key is %v", kind)
	}
	for text, keyword := range map[string]string{
		`{"patterns":[{"old":"a"}]}`:             "",
		`{"patterns":[{"old":"a"}],"root":"/"}`:  "",
		`{"patterns":[]}`:                        "minItems",
		`{"patterns":[{"old":"x"}]}`:             "pattern",
		`{}`:                                     "required",
		`{"patterns":[{"old":"a"}],"count":100}`: "exclusiveMaximum",
		`{"patterns":[{"old":"a"}],"ratio":9007199254740992.0000000001}`: "maximum",
		`{"patterns":[{"old":"a"}],"fixed":false}`:                       "const",
		`{"patterns":[{"old":"a"}],"opts":{"y":1}}`:                      "additionalProperties",
		`{"patterns":[{"old":"a"}],"list":[1,2,1.0]}`:                    "uniqueItems",
		`{"patterns":[{"old":"a"}],"cmd":1}`:                             "type",
	} {
		v := s.Validate(value(t, text))
		if (v == nil) != (keyword == "") || v != nil && v.Keyword != keyword {
			t.Errorf("%s: %v, want %q", text, v, keyword)
		}
	}
}

// Proves D25-16, D25-32: every mistake of a declaration is found in one run, with its parameter,
// its key and its position.
func TestFromParametersMistakes(t *testing.T) {
	text := []string{"string"}
	tests := []struct {
		name                string
		parameter           schema.Parameter
		path, field, inText string
		hint                string
	}{
		{"no name", schema.Parameter{Type: text}, "", "name", "has a name", ""},
		{"no type", schema.Parameter{Name: "a"}, "a", "type", "no type", "types are string, number"},
		{"neither array nor object", schema.Parameter{Name: "a", Items: &schema.Parameter{Type: text}, Properties: []schema.Parameter{{Name: "b", Type: text}}}, "a", "type", "no type", ""},
		{"unknown type", schema.Parameter{Name: "a", Type: []string{"frob"}}, "a", "type", `"frob" is not a type`, "types are"},
		{"mistyped type", schema.Parameter{Name: "a", Type: []string{"sting"}}, "a", "type", "not a type", `write "string"`},
		{"type of another language", schema.Parameter{Name: "a", Type: []string{"Dict"}}, "a", "type", "not a type", `write "object"`},
		{"two annotations", schema.Parameter{Name: "a", Type: []string{"path", "command"}}, "a", "type", "cannot be path and command", ""},
		{"expands of a number", schema.Parameter{Name: "a", Type: []string{"number"}, Expands: true}, "a", "expands", "only a string", ""},
		{"items of a string", schema.Parameter{Name: "a", Type: text, Items: &schema.Parameter{Type: text}}, "a", "items", "says nothing about a string", ""},
		{"properties of a string", schema.Parameter{Name: "a", Type: text, Properties: []schema.Parameter{}}, "a", "properties", "says nothing about", ""},
		{"additional of a string", schema.Parameter{Name: "a", Type: text, Additional: &schema.AdditionalParameter{}}, "a", "additional", "says nothing about", ""},
		{"minimum of a string", schema.Parameter{Name: "a", Type: text, Minimum: "1"}, "a", "minimum", "says nothing about", ""},
		{"pattern of a number", schema.Parameter{Name: "a", Type: []string{"number"}, Pattern: "a"}, "a", "pattern", "says nothing about a number", ""},
		{"length of an array", schema.Parameter{Name: "a", Type: []string{"array"}, MinLength: number(1)}, "a", "min_length", "says nothing about an array", ""},
		{"number that is none", schema.Parameter{Name: "a", Type: []string{"number"}, Maximum: "0x10"}, "a", "maximum", "is not a decimal number", ""},
		{"multiple of nothing", schema.Parameter{Name: "a", Type: []string{"number"}, MultipleOf: "0"}, "a", "multiple_of", "greater than 0", ""},
		{"negative count", schema.Parameter{Name: "a", Type: text, MaxLength: number(-1)}, "a", "max_length", "not be negative", ""},
		{"pattern", schema.Parameter{Name: "a", Type: text, Pattern: `(a)\1`}, "a", "pattern", "backreferences are not supported at byte 3", "list the values"},
		{"empty enum", schema.Parameter{Name: "a", Type: text, Enum: []string{}}, "a", "enum", "allows nothing", ""},
		{"enum that does not fit", schema.Parameter{Name: "a", Type: text, Enum: []string{`"a"`, "1"}}, "a", "enum", "1 does not fit the parameter: must be a string, is a number", ""},
		{"enum that is no JSON", schema.Parameter{Name: "a", Type: text, Enum: []string{"a"}}, "a", "enum", "a is not a JSON value", ""},
		{"const that does not fit", schema.Parameter{Name: "a", Type: []string{"integer"}, Const: "1.5"}, "a", "const", "does not fit", ""},
		{"const outside of enum", schema.Parameter{Name: "a", Type: text, Const: `"c"`, Enum: []string{`"a"`}}, "a", "const", "one of the listed values", ""},
		{"default outside of enum", schema.Parameter{Name: "a", Type: text, Default: `"c"`, Enum: []string{`"a"`}}, "a", "default", "one of the listed values", ""},
		{"default that is no JSON", schema.Parameter{Name: "a", Type: text, Default: `{`}, "a", "default", "is not a JSON value", ""},
		{"nested", schema.Parameter{Name: "a", Items: &schema.Parameter{Properties: []schema.Parameter{{Name: "b", Type: []string{"x"}}}}}, "a.items.b", "type", "not a type", ""},
		{"nested additional", schema.Parameter{Name: "a", Type: []string{"object"}, Additional: &schema.AdditionalParameter{Schema: &schema.Parameter{}}}, "a.additional", "type", "no type", ""},
		{"required element", schema.Parameter{Name: "a", Items: &schema.Parameter{Type: text, Required: true}}, "a.items", "items", "have no name", ""},
		{"alias of an element", schema.Parameter{Name: "a", Items: &schema.Parameter{Type: text, Aliases: []string{"b"}}}, "a.items", "items", "have no name", ""},
		{"empty alias", schema.Parameter{Name: "a", Type: text, Aliases: []string{""}}, "a", "aliases", "an alias is a name", ""},
		{"own name as alias", schema.Parameter{Name: "a", Type: text, Aliases: []string{"a"}}, "a", "aliases", "own name", ""},
		{"alias twice", schema.Parameter{Name: "a", Type: text, Aliases: []string{"b", "b"}}, "a", "aliases", "listed twice", ""},
		{"alias of another", schema.Parameter{Name: "a", Type: text, Aliases: []string{"other"}}, "a", "aliases", `stands for the parameter "other"`, ""},
		{"name twice", schema.Parameter{Name: "other", Type: text}, "other", "name", "declared twice", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.parameter.Pos = test.name
			other := schema.Parameter{Name: "other", Type: text}
			broken := schema.Parameter{Name: "broken", Type: []string{"?"}, Pos: "the other mistake"}
			_, err := schema.FromParameters([]schema.Parameter{other, test.parameter, broken})
			var all schema.ParameterErrors
			if !errors.As(err, &all) {
				t.Fatalf("%v", err)
			}
			found, foundOther := false, false
			for _, e := range all {
				if e.Path == test.path && e.Field == test.field && strings.Contains(e.Message, test.inText) && strings.Contains(e.Hint, test.hint) {
					found = found || e.Pos == any(test.name) || strings.Contains(test.path, ".")
				}
				foundOther = foundOther || e.Pos == any("the other mistake")
			}
			if !found || !foundOther {
				t.Errorf("%v", err)
			}
		})
	}
}

// The text of the mistakes has a line for each.
func TestParameterErrorsText(t *testing.T) {
	_, err := schema.FromParameters([]schema.Parameter{{Name: "a", Type: []string{"str"}}, {Name: "b", Type: []string{"string"}, MinLength: number(-1)}})
	const want = "a: type: \"str\" is not a type (write \"string\")\nb: min_length: must not be negative"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// Proves A17, A18: a declaration that is too large or too deep is rejected, not shortened.
func TestFromParametersTooLarge(t *testing.T) {
	deep := schema.Parameter{Name: "a", Type: []string{"string"}}
	for range 30_000 {
		deep = schema.Parameter{Name: "a", Properties: []schema.Parameter{deep}}
	}
	wide := make([]schema.Parameter, 30_000)
	for i := range wide {
		wide[i] = schema.Parameter{Name: strconv.Itoa(i), Type: []string{"string"}}
	}
	for message, list := range map[string][]schema.Parameter{"nest too deep": {deep}, "too many to follow": wide} {
		_, err := schema.FromParameters(list)
		var all schema.ParameterErrors
		if !errors.As(err, &all) || len(all) != 1 || !strings.Contains(all[0].Message, message) {
			t.Errorf("%.200v", err)
		}
	}
}
