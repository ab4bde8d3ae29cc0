package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves K0g, K14, A19, A20, A21, A26, B1, B2, B3: each keyword accepts and rejects, and the
// violation names the value and the keyword.
func TestValidate(t *testing.T) {
	tests := []struct {
		name, schema, value string
		pointer, keyword    string // keyword "": it fits
	}{
		{"B1 array for a string", `{"properties":{"path":{"type":"string"}}}`, `{"path":["src/a",".env"]}`, "/path", "type"},
		{"B2 object for a string", `{"properties":{"path":{"type":"string"}}}`, `{"path":{"toString":"src/a"}}`, "/path", "type"},
		{"B2 null for a string", `{"properties":{"path":{"type":"string"}}}`, `{"path":null}`, "/path", "type"},
		{"null where it is allowed", `{"properties":{"path":{"type":["string","null"]}}}`, `{"path":null}`, "", ""},
		{"K23 nullable", `{"properties":{"path":{"type":"string","nullable":true,"enum":["a"]}}}`, `{"path":null}`, "", ""},
		{"not nullable", `{"properties":{"path":{"type":"string","nullable":false}}}`, `{"path":null}`, "/path", "type"},
		{"B3 required", `{"required":["path"]}`, `{}`, "", "required"},
		{"B3 nested required", `{"properties":{"a":{"items":{"required":["b"]}}}}`, `{"a":[{"b":1},{}]}`, "/a/1", "required"},
		{"required is there", `{"required":["path"],"properties":{"path":{}}}`, `{"path":null}`, "", ""},
		{"draft 3's required", `{"properties":{"path":{"required":true}}}`, `{}`, "", "required"},
		{"A26 magic key", `{"properties":{"path":{}},"additionalProperties":false}`, `{"__proto__":{"path":".env"}}`, "/__proto__", "additionalProperties"},
		{"additional by schema", `{"additionalProperties":{"type":"string"}}`, `{"a":"x","b":1}`, "/b", "type"},
		{"additional by false schema", `{"properties":{"a":{}},"additionalProperties":{"not":{}}}`, `{"a":1,"b":1}`, "/b", "not"},
		{"additional is open", `{"properties":{"a":{}}}`, `{"b":1}`, "", ""},
		{"escaped key", `{"properties":{"a\"b":{"type":"string"}},"additionalProperties":false}`, `{"a\"b":1}`, "/a\"b", "type"},

		{"A20 integer with a point", `{"properties":{"n":{"type":"integer"}}}`, `{"n":1.0}`, "", ""},
		{"A20 integer with an exponent", `{"properties":{"n":{"type":"integer"}}}`, `{"n":1e2}`, "", ""},
		{"A20 negative zero", `{"properties":{"n":{"type":"integer","const":0}}}`, `{"n":-0}`, "", ""},
		{"no integer", `{"properties":{"n":{"type":"integer"}}}`, `{"n":1.5}`, "/n", "type"},
		{"number or integer", `{"properties":{"n":{"type":["integer","number"]}}}`, `{"n":1.5}`, "", ""},
		{"A20 enum of another spelling", `{"properties":{"n":{"enum":[1,2]}}}`, `{"n":2.0}`, "", ""},
		{"A20 const inside of an object", `{"properties":{"n":{"const":{"a":[1,{"b":null}]}}}}`, `{"n":{"a":[1.00,{"b":null}]}}`, "", ""},
		{"A19 precision", `{"properties":{"n":{"maximum":9007199254740992}}}`, `{"n":9007199254740993}`, "/n", "maximum"},
		{"A19 precision at the limit", `{"properties":{"n":{"maximum":9007199254740992}}}`, `{"n":9007199254740992}`, "", ""},
		{"A21 exponent", `{"properties":{"n":{"maximum":1e308}}}`, `{"n":1e400}`, "/n", "maximum"},
		{"A21 tiny exponent", `{"properties":{"n":{"exclusiveMinimum":0}}}`, `{"n":1e-999999}`, "", ""},
		{"minimum", `{"properties":{"n":{"minimum":-1.5}}}`, `{"n":-1.50000000000000000001}`, "/n", "minimum"},
		{"exclusive minimum", `{"properties":{"n":{"exclusiveMinimum":5}}}`, `{"n":5.0}`, "/n", "exclusiveMinimum"},
		{"exclusive maximum", `{"properties":{"n":{"exclusiveMaximum":5}}}`, `{"n":5}`, "/n", "exclusiveMaximum"},
		{"draft 4's exclusive minimum", `{"properties":{"n":{"minimum":5,"exclusiveMinimum":true}}}`, `{"n":5}`, "/n", "exclusiveMinimum"},
		{"draft 4's exclusive maximum", `{"properties":{"n":{"exclusiveMaximum":true,"maximum":5}}}`, `{"n":5}`, "/n", "exclusiveMaximum"},
		{"draft 4's inclusive bounds", `{"properties":{"n":{"minimum":5,"maximum":5,"exclusiveMinimum":false,"exclusiveMaximum":false}}}`, `{"n":5}`, "", ""},
		{"draft 4's flags alone", `{"properties":{"n":{"exclusiveMinimum":true,"exclusiveMaximum":true}}}`, `{"n":5}`, "", ""},
		{"multiple of", `{"properties":{"n":{"multipleOf":0.01}}}`, `{"n":4.35}`, "", ""},
		{"no multiple", `{"properties":{"n":{"multipleOf":0.01}}}`, `{"n":4.355}`, "/n", "multipleOf"},
		{"bounds ignore strings", `{"properties":{"n":{"minimum":5}}}`, `{"n":"a"}`, "", ""},

		{"min length in code points", `{"properties":{"s":{"minLength":2}}}`, `{"s":"😀"}`, "/s", "minLength"},
		{"max length in code points", `{"properties":{"s":{"maxLength":2}}}`, `{"s":"😀é"}`, "", ""},
		{"max length of an escaped text", `{"properties":{"s":{"maxLength":2}}}`, `{"s":"\u0061\n\""}`, "/s", "maxLength"},
		{"pattern", `{"properties":{"s":{"pattern":"^a+$"}}}`, `{"s":"aab"}`, "/s", "pattern"},
		{"pattern is searched", `{"properties":{"s":{"pattern":"b"}}}`, `{"s":"aab"}`, "", ""},
		{"pattern sees what is escaped", `{"properties":{"s":{"pattern":"^a\\sb$"}}}`, `{"s":"a\u00a0b"}`, "", ""},
		{"format does not refuse", `{"properties":{"s":{"format":"uri"}}}`, `{"s":"no uri"}`, "", ""},
		{"enum", `{"properties":{"s":{"enum":["a","b"]}}}`, `{"s":"c"}`, "/s", "enum"},
		{"enum of an escaped text", `{"properties":{"s":{"enum":["a\nb"]}}}`, `{"s":"a\u000ab"}`, "", ""},
		{"empty enum", `{"properties":{"s":{"enum":[]}}}`, `{"s":"c"}`, "/s", "enum"},
		{"const", `{"properties":{"s":{"const":"a"}}}`, `{"s":"b"}`, "/s", "const"},
		{"const null", `{"properties":{"s":{"const":null}}}`, `{"s":null}`, "", ""},

		{"min items", `{"properties":{"l":{"minItems":2}}}`, `{"l":[1]}`, "/l", "minItems"},
		{"max items", `{"properties":{"l":{"maxItems":2}}}`, `{"l":[1,2,3]}`, "/l", "maxItems"},
		{"elements", `{"properties":{"l":{"items":{"type":"string"}}}}`, `{"l":["a",1]}`, "/l/1", "type"},
		{"tuple", `{"properties":{"l":{"prefixItems":[{"type":"string"},{"type":"number"}],"items":false}}}`, `{"l":["a",1]}`, "", ""},
		{"tuple with a wrong element", `{"properties":{"l":{"prefixItems":[{"type":"string"},{"type":"number"}]}}}`, `{"l":["a","b"]}`, "/l/1", "type"},
		{"tuple with too many elements", `{"properties":{"l":{"prefixItems":[{}],"items":false}}}`, `{"l":["a","b"]}`, "/l/1", "type"},
		{"tuple that is open", `{"properties":{"l":{"prefixItems":[{}]}}}`, `{"l":["a","b"]}`, "", ""},
		{"draft 7's tuple", `{"properties":{"l":{"items":[{"type":"string"}],"additionalItems":{"type":"number"}}}}`, `{"l":["a",1,"c"]}`, "/l/2", "type"},
		{"draft 7's tuple, keywords swapped", `{"properties":{"l":{"additionalItems":false,"items":[{"type":"string"}]}}}`, `{"l":["a",1]}`, "/l/1", "type"},
		{"additional items without a list mean nothing", `{"properties":{"l":{"additionalItems":false,"items":{"type":"number"}}}}`, `{"l":[1]}`, "", ""},
		{"unique", `{"properties":{"l":{"uniqueItems":true}}}`, `{"l":[{"a":1,"b":2},[1],"1",1,{"b":2,"a":1.0}]}`, "/l", "uniqueItems"},
		{"all different", `{"properties":{"l":{"uniqueItems":true}}}`, `{"l":[{"a":1},[1],"1",1,null]}`, "", ""},
		{"one is unique", `{"properties":{"l":{"uniqueItems":true}}}`, `{"l":[1]}`, "", ""},
		{"contains", `{"properties":{"l":{"contains":{"const":1}}}}`, `{"l":[2,3]}`, "/l", "contains"},
		{"contains enough", `{"properties":{"l":{"contains":{"const":1},"minContains":2,"maxContains":2}}}`, `{"l":[1,1,2]}`, "", ""},
		{"contains too few", `{"properties":{"l":{"contains":{"const":1},"minContains":2}}}`, `{"l":[1,2]}`, "/l", "contains"},
		{"contains too many", `{"properties":{"l":{"contains":{"const":1},"maxContains":1}}}`, `{"l":[1,1]}`, "/l", "maxContains"},

		{"min properties", `{"minProperties":1}`, `{}`, "", "minProperties"},
		{"max properties", `{"maxProperties":1}`, `{"a":1,"b":1}`, "", "maxProperties"},
		{"property names", `{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"a":1,"B":1}`, "/B", "propertyNames"},
		{"pattern properties", `{"patternProperties":{"^n":{"type":"number"},"x$":{"minimum":3}}}`, `{"nx":2}`, "/nx", "minimum"},
		{"pattern properties of a declared one", `{"properties":{"n":{"minimum":3}},"patternProperties":{"n":{"maximum":5}}}`, `{"n":6}`, "/n", "maximum"},
		{"pattern properties are not additional", `{"patternProperties":{"^n":{}},"additionalProperties":false}`, `{"n":1}`, "", ""},
		{"what no pattern finds is additional", `{"patternProperties":{"^n":{}},"additionalProperties":false}`, `{"n":1,"m":1}`, "/m", "additionalProperties"},
		{"dependent required", `{"properties":{"a":{}},"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "", "dependentRequired"},
		{"dependent required is there", `{"dependentRequired":{"a":["b"],"c":["d"]}}`, `{"a":1,"b":2}`, "", ""},
		{"dependent schema", `{"dependentSchemas":{"a":{"required":["b"]},"c":false}}`, `{"a":1}`, "", "required"},
		{"draft 7's dependencies", `{"dependencies":{"a":["b"]}}`, `{"a":1}`, "", "dependentRequired"},
		{"draft 7's dependent schema", `{"dependencies":{"a":{"required":["b"]}}}`, `{"a":1}`, "", "required"},

		{"all of", `{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1}`, "", "required"},
		{"any of", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"b":1}`, "", ""},
		{"none of any", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, "", "anyOf"},
		{"one of", `{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"b":1}`, "", ""},
		{"two of one", `{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1,"b":1}`, "", "oneOf"},
		{"not", `{"not":{"required":["a"]}}`, `{"a":1}`, "", "not"},
		{"not that", `{"not":{"required":["a"]}}`, `{}`, "", ""},
		{"then", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1,"c":1}`, "", "required"},
		{"else", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"c":1}`, "", ""},
		{"if alone", `{"if":{"required":["a"]}}`, `{}`, "", ""},
		{"violations below alternatives are not reported", `{"anyOf":[{"additionalProperties":{"type":"string"}},{"propertyNames":{"const":"x"}}]}`, `{"a":1,"b":2}`, "", "anyOf"},
		{"reference", `{"properties":{"a":{"$ref":"#/definitions/s"}},"definitions":{"s":{"type":"string"}}}`, `{"a":1}`, "/a", "type"},
		{"reference with a sibling", `{"properties":{"a":{"$ref":"#/$defs/s","maxLength":1}},"$defs":{"s":{"type":"string"}}}`, `{"a":"xx"}`, "/a", "maxLength"},
		{"reference to the root", `{"properties":{"a":{"$ref":"#"},"n":{"type":"number"}}}`, `{"a":{"a":{"n":"x"}}}`, "/a/a/n", "type"},
		{"reference by its own id", `{"$id":"https://x.example/s","properties":{"a":{"$ref":"https://x.example/s#/$defs/s"}},"$defs":{"s":{"type":"string"}}}`, `{"a":1}`, "/a", "type"},
		{"escaped reference", `{"properties":{"a":{"$ref":"#/$defs/a~1b%25%20c"}},"$defs":{"a/b% c":{"type":"string"}}}`, `{"a":1}`, "/a", "type"},
		{"reference into a list", `{"anyOf":[{"type":"string"},{"$ref":"#/anyOf/0"}]}`, `{}`, "", "anyOf"},
		{"recursion", `{"$ref":"#/$defs/t","$defs":{"t":{"properties":{"k":{"items":{"$ref":"#/$defs/t"}}},"additionalProperties":false}}}`, `{"k":[{"k":[{"x":1}]}]}`, "/k/0/k/0/x", "additionalProperties"},
		{"true", `{"properties":{"a":true}}`, `{"a":1}`, "", ""},
		{"false", `{"properties":{"a":false}}`, `{"a":1}`, "/a", "type"},
		{"K0g a keyword that is not validated does not refuse", `{"unevaluatedProperties":false}`, `{"a":1}`, "", ""},
		{"a type that does not exist does not refuse", `{"properties":{"a":{"type":"file"}}}`, `{"a":1}`, "", ""},
	}
	var c schema.Validator
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := parse(t, test.schema)
			for _, v := range []*schema.Violation{s.Validate(value(t, test.value)), c.Validate(s, value(t, test.value))} {
				switch {
				case v == nil && test.keyword != "":
					t.Errorf("%s fits", test.value)
				case v != nil && (v.Keyword != test.keyword || v.Pointer != test.pointer || v.Message == ""):
					t.Errorf("%+v, want %s at %q", *v, test.keyword, test.pointer)
				}
			}
		})
	}
}

// Proves K14: of several violations the first in declaration order is reported, for any order of
// the keys.
func TestValidateFirstViolation(t *testing.T) {
	tests := []struct{ schema, pointer, keyword string }{
		{`{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["x"]}`, "", "required"},
		{`{"properties":{"b":{"type":"string"},"a":{"type":"string"}}}`, "/b", "type"},
		{`{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, "/a", "type"},
		{`{"properties":{"a":{"type":"string"}},"additionalProperties":false}`, "/a", "type"},
		{`{"additionalProperties":false}`, "/a", "additionalProperties"},
		{`{"additionalProperties":{"type":"string"}}`, "/a", "type"},
		{`{"properties":{"c":{"additionalProperties":false}}}`, "/c/y", "additionalProperties"},
	}
	for _, test := range tests {
		for _, text := range []string{`{"a":1,"b":2,"c":{"z":1,"y":2}}`, `{"c":{"y":2,"z":1},"b":2,"a":1}`} {
			v := parse(t, test.schema).Validate(value(t, text))
			if v == nil || v.Pointer != test.pointer || v.Keyword != test.keyword {
				t.Errorf("%s on %s: %v", test.schema, text, v)
			}
		}
	}
}

// Proves B6: a value under an alias is validated as the parameter, also against a server's schema;
// two names of one parameter do not fit.
func TestB6ValidateAliases(t *testing.T) {
	base := parse(t, `{"properties":{"path":{"type":"string","maxLength":5},"opts":{"properties":{"mode":{"type":"string"}},"required":["mode"],"additionalProperties":false}},"required":["path"],"additionalProperties":false}`)
	file, err := schema.FromParameters([]schema.Parameter{
		{Name: "path", Type: []string{"path"}, Aliases: []string{"file", "f\"x"}},
		{Name: "opts", Properties: []schema.Parameter{{Name: "mode", Type: []string{"string"}, Aliases: []string{"m"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Overlay(base, file)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"path":"a"}`:                        "",
		`{"file":"a"}`:                        "",
		`{"f\"x":"a"}`:                        "",
		`{"file":"abcdef"}`:                   "/file maxLength",
		`{"file":1}`:                          "/file type",
		`{"path":"a","file":"b"}`:             " aliases",
		`{"filename":"a"}`:                    " required",
		`{"path":"a","opts":{"m":"x"}}`:       "",
		`{"path":"a","opts":{"m":1}}`:         "/opts/m type",
		`{"path":"a","opts":{"file":"x"}}`:    "/opts required",
		`{"path":"a","m":"x"}`:                "/m additionalProperties",
		`{"file":"a","opts":{"m":"x","y":1}}`: "/opts/y additionalProperties",
	} {
		got := ""
		if v := s.Validate(value(t, text)); v != nil {
			got = v.Pointer + " " + v.Keyword
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if v := base.Validate(value(t, `{"file":"a"}`)); v == nil {
		t.Error("the overlay changed its base")
	}
}

// Proves B6, K23: below a condition's declarations, which rules do not evaluate, aliases are not
// translated.
func TestValidateAliasBelowConditions(t *testing.T) {
	base := parse(t, `{"properties":{"path":{}},"if":{"properties":{"path":{"const":"x"}}},"then":{"properties":{"deep":{"properties":{"path":{"type":"string"}}}}}}`)
	s, err := schema.Overlay(base, declare(t, schema.Parameter{Name: "path", Type: []string{"path"}, Aliases: []string{"file"}}))
	if err != nil {
		t.Fatal(err)
	}
	for text, fits := range map[string]bool{
		`{"file":"x","deep":{"path":1}}`: false,
		`{"file":"y","deep":{"path":1}}`: true,
		`{"file":"x","deep":{"file":1}}`: true,
	} {
		if v := s.Validate(value(t, text)); (v == nil) != fits {
			t.Errorf("%s: %v", text, v)
		}
	}
}

// Proves B6 below free-form members and alternatives: an alias is translated only where it is
// declared.
func TestValidateAliasScope(t *testing.T) {
	file, err := schema.FromParameters([]schema.Parameter{
		{Name: "path", Type: []string{"path"}, Aliases: []string{"file"}, Required: true},
		{Name: "env", Type: []string{"object"}, Additional: &schema.AdditionalParameter{Schema: &schema.Parameter{
			Properties: []schema.Parameter{{Name: "value", Type: []string{"string"}, Aliases: []string{"v"}, Required: true}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, fits := range map[string]bool{
		`{"file":"a","env":{"file":{"v":"x"},"path":{"value":"x"}}}`: true,
		`{"file":"a","env":{"x":{"v":1}}}`:                           false,
		`{"file":"a","env":{"x":{"file":"x"}}}`:                      false,
	} {
		if v := file.Validate(value(t, text)); (v == nil) != fits {
			t.Errorf("%s: %v", text, v)
		}
	}
}

// Proves A17, A18: a validation always terminates; arguments that were not validated completely do
// not fit.
func TestValidateIsBounded(t *testing.T) {
	var doubling strings.Builder
	doubling.WriteString(`{"$ref":"#/$defs/d00","$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&doubling, `"d%02d":{"anyOf":[{"$ref":"#/$defs/d%02d"},{"$ref":"#/$defs/d%02d"}]},`, i, i+1, i+1)
	}
	doubling.WriteString(`"d40":{"required":["x"]}}}`)
	names := make([]string, 9000)
	for i := range names {
		names[i] = fmt.Sprintf(`"n%d"`, i)
	}
	list := strings.Join(names, ",")
	object := `{` + strings.Join(names, `:1,`) + `:1}`
	tests := map[string][2]string{
		"doubling alternatives":          {doubling.String(), `{"y":1}`},
		"doubling alternatives negated":  {`{"not":{"properties":{"a":` + strings.ReplaceAll(doubling.String(), "#/", "#/not/properties/a/") + `}}}`, `{"a":{"y":1}}`},
		"required names of a map":        {`{"allOf":[{"required":[` + list + `]},{"required":[` + list + `]}]}`, object},
		"dependent names of a map":       {`{"dependentRequired":{"n8999":[` + list + `]}}`, object},
		"dependent names that are there": {`{"properties":{"n0":{}},"dependentRequired":{` + strings.Join(names, `:["n0"],`) + `:["n0"]}}`, object},
		"a large pattern on a long text": {`{"properties":{"s":{"pattern":"^(?:a?){1000}a{1000}b$"}}}`, `{"s":"` + strings.Repeat("a", 1<<17) + `"}`},
		"a large pattern on many names":  {`{"patternProperties":{"^(?:a?){1000}a{1000}b$":{}}}`, `{"` + strings.Repeat("a", 1000) + object[2:len(object)-1] + `,"` + strings.Repeat("b", 1000) + `":1}`},
		"one enum on many values":        {`{"additionalProperties":{"anyOf":[` + strings.Repeat(`{"enum":[0]},`, 300) + `{}]}}`, strings.ReplaceAll(object, ":1", `:"`+strings.Repeat("x", 210)+`"`)},
		"unique asked again and again":   {`{"properties":{"l":{"anyOf":[` + strings.Repeat(`{"uniqueItems":true},`, 300) + `{}]}}}`, `{"l":[` + strings.ReplaceAll(list, `"n`, `"`+strings.Repeat("x", 100)) + `,1,1]}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := parse(t, test[0]).Validate(value(t, test[1]))
			if v == nil || v.Keyword != "" || !strings.Contains(v.Message, "too many steps") {
				t.Errorf("%.100v", v)
			}
		})
	}
}

// Proves B1: an invalid value does not fit.
func TestValidateNothing(t *testing.T) {
	v := parse(t, `{}`).Validate(jsonstream.Value{})
	if v == nil || v.Error() != "the arguments: there is nothing to check, or nothing to check it against" {
		t.Errorf("%v", v)
	}
	v = parse(t, `{"properties":{"a":{"type":"string"}}}`).Validate(value(t, `{"a":1}`))
	if v == nil || v.Error() != "/a: must be a string, is a number" {
		t.Errorf("%v", v)
	}
}

// Proves A14: requirements in references, combinations and overlays count.
func TestA14RequiresNothing(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, `{"properties":{"a":{}}}`: true, `{"required":["a"]}`: false, `{"minProperties":1}`: false, `false`: false,
		`{"allOf":[{"required":["a"]}]}`: false, `{"$ref":"#/$defs/a","$defs":{"a":{"required":["a"]}}}`: false,
		`{"anyOf":[{"required":["a"]},{}]}`: true, `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`: false,
	} {
		s := parse(t, text)
		if s.RequiresNothing() != want {
			t.Errorf("%s: %v", text, !want)
		}
		over, err := schema.Overlay(s, declare(t))
		if err == nil && over.RequiresNothing() != want {
			t.Errorf("overlaid %s: %v", text, !want)
		}
	}
	if !(*schema.Schema)(nil).RequiresNothing() {
		t.Error("the unknown schema requires something")
	}
}

const ordinary = `{"type":"object","required":["path","content"],"properties":{
	"path":{"type":"string","minLength":1,"x-stopgate-type":"path"},"content":{"type":"string"},"mode":{"enum":["create","append"]},
	"lines":{"type":"array","items":{"type":"integer","minimum":0}},"opts":{"anyOf":[{"type":"null"},{"type":"object","properties":{"dry":{"type":"boolean"}}}]}},
	"additionalProperties":false}`

const ordinaryArguments = `{"path":"src/a.go","content":"package a\n\nfunc A() {}\n","mode":"create","lines":[1,2,3],"opts":{"dry":true}}`

// Validating arguments that fit does not allocate.
func TestValidateAllocates(t *testing.T) {
	s, v := parse(t, ordinary), value(t, ordinaryArguments)
	var c schema.Validator
	allocs := testing.AllocsPerRun(100, func() {
		if c.Validate(s, v) != nil {
			t.Error("does not fit")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkValidate(b *testing.B) {
	s, _, err := schema.ParseJSON([]byte(ordinary))
	if err != nil {
		b.Fatal(err)
	}
	v, err := jsonstream.Parse([]byte(ordinaryArguments), jsonstream.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var c schema.Validator
	b.ReportAllocs()
	for b.Loop() {
		if c.Validate(s, v) != nil {
			b.Fatal("does not fit")
		}
	}
}

func BenchmarkMember(b *testing.B) {
	s, _, err := schema.ParseJSON([]byte(ordinary))
	if err != nil {
		b.Fatal(err)
	}
	key := []byte("content")
	b.ReportAllocs()
	for b.Loop() {
		if s.Location().Member(key).Kind != schema.DeclaredName {
			b.Fatal("not declared")
		}
	}
}

func BenchmarkParseJSON(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := schema.ParseJSON([]byte(ordinary)); err != nil {
			b.Fatal(err)
		}
	}
}
