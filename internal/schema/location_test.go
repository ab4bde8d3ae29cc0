package schema_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/property"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

func parse(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s, _, err := schema.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func value(t *testing.T, text string) jsonstream.Value {
	t.Helper()
	v, err := jsonstream.Parse([]byte(text), jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func pointer(t *testing.T, text string) jsonstream.Pointer {
	t.Helper()
	p, err := jsonstream.ParsePointer(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// locate walks member names and "*" from the root.
func locate(t *testing.T, s *schema.Schema, way ...string) *schema.Location {
	t.Helper()
	p := s.Location()
	for _, segment := range way {
		if segment == "*" {
			p = p.Items()
			continue
		}
		p = p.Member([]byte(segment)).Location
	}
	return p
}

// Proves A4, A5, A6, A25, A26, I9, K24: the kind of a key.
func TestMemberKinds(t *testing.T) {
	closed := `{"properties":{"path":{},"task":{},"é":{},"名":{},"a b":{}}}`
	tests := []struct {
		name, schema, key string
		kind              schema.MemberKind
		property          int // the declared member that it is or folds to
	}{
		{"exact", closed, "path", schema.DeclaredName, 0},
		{"exact beyond ASCII", closed, "é", schema.DeclaredName, 2},
		{"A4 case variant", closed, "PATH", schema.Undeclared, 0},
		{"A4 mixed case", closed, "pAth", schema.Undeclared, 0},
		{"A5 long s", closed, "ta\u017fk", schema.Undeclared, 1},
		{"A5 Kelvin sign", closed, "tas\u212a", schema.Undeclared, 1},
		{"A6 NUL suffix", closed, "path\x00", schema.Ambiguous, 0},
		{"A6 NUL and more", closed, "path\x00x", schema.Ambiguous, 0},
		{"A6 NUL first", closed, "\x00x", schema.Undeclared, -1},
		{"A6 control character inside", closed, "pa\x1fth", schema.Ambiguous, 0},
		{"A6 DEL", closed, "\x7fpath", schema.Ambiguous, 0},
		{"A6 NUL suffix of a case variant", closed, "PATH\x00", schema.Undeclared, 0},
		{"A6 controls around an undeclared key", closed, "x\x00", schema.Undeclared, -1},
		{"I9 zero-width space", closed, "pa\u200bth", schema.Undeclared, 0},
		{"I9 byte order mark", closed, "\ufeffpath", schema.Undeclared, 0},
		{"I9 soft hyphen", closed, "pa\u00adth", schema.Undeclared, 0},
		{"I9 directional mark", closed, "path\u202e", schema.Undeclared, 0},
		{"A25 decomposed", closed, "e\u0301", schema.Undeclared, 2},
		{"A25 decomposed with case", closed, "E\u0301", schema.Undeclared, 2},
		{"A25 fullwidth", closed, "\uff50ath", schema.Undeclared, 0},
		{"A25 no-break space", closed, "a\u00a0b", schema.Undeclared, 4},
		{"all at once", closed, "\u200bＰA\x01t\u00adH", schema.Undeclared, 0},
		{"another letter that looks alike", closed, "p\u0430th", schema.Undeclared, -1},
		{"A26 magic key", closed, "__proto__", schema.Undeclared, -1},
		{"A26 forbidden magic key", `{"properties":{"path":{}},"additionalProperties":false}`, "__proto__", schema.Forbidden, -1},
		{"forbidden case variant", `{"properties":{"path":{}},"additionalProperties":false}`, "Path", schema.Forbidden, 0},
		{"ambiguity before what is forbidden", `{"properties":{"path":{}},"additionalProperties":false}`, "path\x00", schema.Ambiguous, 0},
		{"empty list of properties", `{"properties":{}}`, "x", schema.Undeclared, -1},
		{"nothing but forbidden", `{"additionalProperties":false}`, "x", schema.Forbidden, -1},
		{"no properties: a map", `{"type":"object"}`, "PATH", schema.FreeForm, -1},
		{"no schema: data", `true`, "x", schema.FreeForm, -1},
		{"additional allowed", `{"properties":{"path":{}},"additionalProperties":true}`, "x", schema.FreeForm, -1},
		{"additional by schema", `{"properties":{"path":{}},"additionalProperties":{"type":"string"}}`, "x", schema.FreeForm, -1},
		{"A4 a map's key that folds to a declared one", `{"properties":{"path":{}},"additionalProperties":true}`, "PATH", schema.FreeForm, 0},
		{"A6 in a map beside declared ones", `{"properties":{"path":{}},"additionalProperties":true}`, "path\x00", schema.Ambiguous, 0},
		{"two declared names that differ in case", `{"properties":{"path":{},"PATH":{}}}`, "PATH", schema.DeclaredName, 1},
		{"a key that may be either of them", `{"properties":{"path":{},"PATH":{}}}`, "Path", schema.Ambiguous, -1},
		{"found by a pattern", `{"properties":{"a":{}},"patternProperties":{"^x-":{}},"additionalProperties":false}`, "x-y", schema.FreeForm, -1},
		{"not found by a pattern", `{"properties":{"a":{}},"patternProperties":{"^x-":{}},"additionalProperties":false}`, "y", schema.Forbidden, -1},
		{"declared in one part of allOf", `{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, "b", schema.DeclaredName, 1},
		{"undeclared in all parts", `{"allOf":[{"properties":{"a":{}}},{"required":["a"]}]}`, "c", schema.Undeclared, -1},
		{"declared in one alternative", `{"anyOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}}}]}`, "b", schema.DeclaredName, 1},
		{"forbidden in one alternative only", `{"anyOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}}}]}`, "c", schema.Undeclared, -1},
		{"forbidden by a part that always holds", `{"$ref":"#/$defs/a","$defs":{"a":{"additionalProperties":false,"properties":{"a":{}}}}}`, "c", schema.Forbidden, -1},
		{"an alternative that is a map stays closed without its word", `{"anyOf":[{"properties":{"a":{}}},{"type":"object"}]}`, "c", schema.Undeclared, -1},
		{"an alternative that says so is a map", `{"anyOf":[{"properties":{"a":{}}},{"additionalProperties":true}]}`, "c", schema.FreeForm, -1},
		{"a reference that is not followed declares nothing", `{"properties":{"a":{}},"$ref":"https://example.com/x"}`, "c", schema.Undeclared, -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := parse(t, test.schema).Location()
			m := p.Member([]byte(test.key))
			if others := p.Others(); others.Property != -1 || others.Kind != p.Member([]byte("anything else")).Kind || others.Location == nil {
				t.Errorf("others %+v", others)
			}
			if m.Kind != test.kind || m.Property != test.property || m.Location == nil {
				t.Errorf("%q: %v of property %d, want %v of %d", test.key, m.Kind, m.Property, test.kind, test.property)
			}
		})
	}
}

// Proves D5, K24: patterns of names that are expensive for each key of a call are not evaluated;
// the key stays undeclared, which asks.
func TestMemberPatternsAreBounded(t *testing.T) {
	for text, want := range map[string]schema.MemberKind{
		`{"properties":{},"patternProperties":{"^x":{}}}`:                                                 schema.FreeForm,
		`{"properties":{},"patternProperties":{"^(?:a?){500}x":{},"^x":{}}}`:                              schema.Undeclared,
		`{"properties":{},"patternProperties":{"^x":{},"^(?:a?){500}x":{}}}`:                              schema.FreeForm,
		`{"properties":{},"patternProperties":{"^y":{},"^(?:a?){500}x":{}},"additionalProperties":false}`: schema.Forbidden,
	} {
		if got := parse(t, text).Location().Member([]byte("xyz")).Kind; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	s := parse(t, `{"properties":{},"patternProperties":{"^x":{}}}`)
	if got := s.Location().Member([]byte(strings.Repeat("x", 129))).Kind; got != schema.Undeclared {
		t.Errorf("a long key is %v", got)
	}
}

// Proves I9: a declared name with changed case, normal form, invisible characters or their
// combinations is recognised as a disguise of that name, and never as the name.
func TestMemberDisguises(t *testing.T) {
	s := parse(t, `{"properties":{"path":{},"Straße_ﬁ":{},"Ωmega":{},"x²":{}}}`)
	disguises := []func(string) string{
		strings.ToUpper, strings.ToLower, norm.NFC.String, norm.NFD.String, norm.NFKC.String, norm.NFKD.String,
		func(x string) string { return cases.Title(language.Und).String(x) },
		func(x string) string { return x + "\u200d" }, func(x string) string { return "\u2066" + x },
		func(x string) string { return x + "\x00" }, func(x string) string { return "\x7f" + x },
		func(x string) string { return strings.ReplaceAll(x, "k", "\u212a") },
		func(x string) string { return strings.ReplaceAll(x, "Ω", "\u2126") },
		func(x string) string { return strings.ReplaceAll(x, "p", "\uff30") },
	}
	property.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, 3).Draw(t, "property")
		name := s.Location().Properties()[i].Name
		key := name
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			before := key
			key = disguises[rapid.IntRange(0, len(disguises)-1).Draw(t, "disguise")](key)
			if strings.ContainsRune(before, 'ß') && !strings.ContainsRune(key, 'ß') {
				key = before // ß becomes SS: not a simple fold
			}
		}
		m := s.Location().Member([]byte(key))
		if m.Property != i {
			t.Fatalf("%q does not fold to %q", key, name)
		}
		if (m.Kind == schema.DeclaredName) != (key == name) {
			t.Fatalf("%q is %v of %q", key, m.Kind, name)
		}
	})
}

// Proves B6: an alias is the parameter, for keys, types and locations.
func TestB6MemberAliases(t *testing.T) {
	s, err := schema.FromParameters([]schema.Parameter{
		{Name: "path", Type: []string{"path"}, Required: true, Aliases: []string{"file_path", "filename"}},
		{Name: "mode", Type: []string{"string"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	root := s.Location()
	if d := root.Properties()[0]; len(d.Aliases) != 2 || !d.Required || d.Name != "path" {
		t.Errorf("%+v", d)
	}
	for key, want := range map[string]schema.Member{
		"path":         {Kind: schema.DeclaredName, Property: 0},
		"file_path":    {Kind: schema.Alias, Property: 0},
		"filename":     {Kind: schema.Alias, Property: 0},
		"FILE_PATH":    {Kind: schema.Undeclared, Property: 0},
		"filename\x00": {Kind: schema.Ambiguous, Property: 0},
		"filepath":     {Kind: schema.Undeclared, Property: -1},
	} {
		m := root.Member([]byte(key))
		if m.Kind != want.Kind || m.Property != want.Property {
			t.Errorf("%q is %v of %d, want %v of %d", key, m.Kind, m.Property, want.Kind, want.Property)
		}
		if m.Kind == schema.Alias && m.Location != root.Properties()[0].Location {
			t.Errorf("%q goes elsewhere", key)
		}
	}
}

// Proves K23: types, annotations and defaults are those of all branches.
func TestLocationUnion(t *testing.T) {
	tests := []struct {
		name, schema string
		way          []string
		types        schema.Type
		annotation   schema.Annotation
		unknown      bool
	}{
		{"plain", `{"properties":{"a":{"type":"string"}}}`, []string{"a"}, schema.String, schema.None, false},
		{"list of types", `{"type":["string","null","integer","number"]}`, nil, schema.String | schema.Null | schema.Number, schema.None, false},
		{"no type", `{}`, nil, schema.AnyType, schema.None, false},
		{"nothing", `false`, nil, 0, schema.None, false},
		{"nullable", `{"type":"string","nullable":true}`, nil, schema.String | schema.Null, schema.None, false},
		{"alternatives", `{"anyOf":[{"type":"string"},{"type":"array"}]}`, nil, schema.String | schema.Array, schema.None, false},
		{"exclusive alternatives", `{"oneOf":[{"type":"string"},{"type":"null"}]}`, nil, schema.String | schema.Null, schema.None, false},
		{"the type beside alternatives holds", `{"type":"string","anyOf":[{"minLength":1},{"pattern":"a"}]}`, nil, schema.String, schema.None, false},
		{"all parts hold", `{"allOf":[{"type":["string","integer"]},{"type":["number","null"]}]}`, nil, schema.Integer, schema.None, false},
		{"reference", `{"$ref":"#/$defs/s","$defs":{"s":{"type":"string","x-stopgate-type":"path"}}}`, nil, schema.String, schema.Path, false},
		{"reference with siblings", `{"type":["string","object"],"$ref":"#/$defs/s","$defs":{"s":{"type":["string","null"]}}}`, nil, schema.String, schema.None, false},
		{"enum", `{"enum":["a",null]}`, nil, schema.String | schema.Null, schema.None, false},
		{"enum of numbers", `{"type":"number","enum":[1,2]}`, nil, schema.Integer, schema.None, false},
		{"const", `{"const":{"a":1}}`, nil, schema.Object, schema.None, false},
		{"a member of one alternative", `{"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"type":"number"}}}]}`, []string{"a"}, schema.String | schema.Number, schema.None, false},
		{"a member of all parts", `{"allOf":[{"properties":{"a":{"type":["string","number"]}}},{"properties":{"a":{"type":["string","null"]}}}]}`, []string{"a"}, schema.String, schema.None, false},
		{"one alternative is no alternative", `{"anyOf":[{"properties":{"a":{"type":["string","number"]}}}],"properties":{"a":{"type":"string"}}}`, []string{"a"}, schema.String, schema.None, false},
		{"a member and additionalProperties of another part", `{"allOf":[{"properties":{"a":{}}},{"additionalProperties":{"type":"boolean"}}]}`, []string{"a"}, schema.Boolean, schema.None, false},
		{"a map", `{"additionalProperties":{"type":"boolean"}}`, []string{"x"}, schema.Boolean, schema.None, false},
		{"inside of a map without a schema", `{"type":"object"}`, []string{"x", "y"}, schema.AnyType, schema.None, true},
		{"elements", `{"type":"array","items":{"type":"string","format":"path"}}`, []string{"*"}, schema.String, schema.Path, false},
		{"elements of a tuple", `{"prefixItems":[{"type":"string"},{"type":"null"}],"items":{"type":"number"}}`, []string{"*"}, schema.String | schema.Null | schema.Number, schema.None, false},
		{"elements without a schema", `{"type":"array"}`, []string{"*"}, schema.AnyType, schema.None, true},
		{"the most cautious annotation", `{"anyOf":[{"type":"string","format":"uri"},{"type":"string","x-stopgate-type":"path"},{"type":"string"}]}`, nil, schema.String, schema.Path, false},
		{"x-stopgate-type before format", `{"x-stopgate-type":"command","format":"path"}`, nil, schema.AnyType, schema.Command, false},
		{"format before x-stopgate-type", `{"format":"path","x-stopgate-type":"command"}`, nil, schema.AnyType, schema.Command, false},
		{"format command", `{"format":"command"}`, nil, schema.AnyType, schema.Command, false},
		{"format that says nothing", `{"format":"email"}`, nil, schema.AnyType, schema.None, false},
		{"conditions hide", `{"if":{},"then":{"properties":{"a":{}}}}`, nil, schema.AnyType, schema.None, true},
		{"below conditions", `{"if":{},"properties":{"a":{"properties":{"b":{"type":"string"}}}}}`, []string{"a", "b"}, schema.String, schema.None, true},
		{"not", `{"not":{"type":"string"}}`, nil, schema.AnyType, schema.None, true},
		{"dependent schemas", `{"dependentSchemas":{"a":{}}}`, nil, schema.AnyType, schema.None, true},
		{"dependencies", `{"dependencies":{"a":{}}}`, nil, schema.AnyType, schema.None, true},
		{"a remote reference", `{"properties":{"a":{"$ref":"other.json"}}}`, []string{"a"}, schema.AnyType, schema.None, true},
		{"a type that does not exist", `{"type":"file"}`, nil, schema.AnyType, schema.None, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inner := strings.ReplaceAll(test.schema, "#/$defs", "#/properties/it/$defs")
			p := locate(t, parse(t, `{"properties":{"it":`+inner+`}}`), append([]string{"it"}, test.way...)...)
			if p.Types() != test.types || p.Annotation() != test.annotation || p.Unknown() != test.unknown {
				t.Errorf("%v %q unknown %v, want %v %q unknown %v", p.Types(), p.Annotation(), p.Unknown(), test.types, test.annotation, test.unknown)
			}
		})
	}
}

// Proves A15: the arguments are an object, even if the schema does not declare it.
func TestA15LocationOfRoot(t *testing.T) {
	for text, want := range map[string]schema.Type{
		`{}`: schema.Object, `true`: schema.Object, `{"properties":{"a":{}}}`: schema.Object, `{"type":["object","array"]}`: schema.Object,
		`{"type":"string"}`: 0, `{"properties":{"a":{"$ref":"#"}}}`: schema.Object,
	} {
		if got := parse(t, text).Location().Types(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// Proves B3, K23: a schema that one alternative refers to and that applies in any case applies in
// any case, and so do the schemas it refers to.
func TestLocationSureInAlternative(t *testing.T) {
	s := parse(t, `{"$ref":"#/$defs/a","allOf":[{"$ref":"#/$defs/x"}],"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/x"},{}]},"x":{"$ref":"#/$defs/y"},
		"y":{"properties":{"p":{}},"required":["p"],"additionalProperties":false}}}`)
	if !s.Location().Properties()[0].Required || s.Location().Member([]byte("q")).Kind != schema.Forbidden {
		t.Error("what is required in any case is optional")
	}
}

// Proves C15.
func TestLocationExpands(t *testing.T) {
	s := declare(t, schema.Parameter{Name: "a", Type: []string{"path"}, Expands: true}, schema.Parameter{Name: "b", Type: []string{"path"}})
	if !locate(t, s, "a").Expands() || locate(t, s, "b").Expands() {
		t.Error("the wrong parameter expands")
	}
	p := parse(t, `{"properties":{"a":{"type":"string","x-stopgate-type":"path","x-stopgate-expands":true},"b":{"x-stopgate-type":"path","x-stopgate-expands":false}}}`)
	if !locate(t, p, "a").Expands() || locate(t, p, "b").Expands() {
		t.Error("JSON Schema: the wrong parameter expands")
	}
	if _, _, err := schema.ParseJSON([]byte(`{"properties":{"a":{"x-stopgate-expands":"yes"}}}`)); err == nil {
		t.Error("a flag that is none was taken")
	}
}

// Proves K0a: a guard on a type evaluates every branch with the annotation.
func TestLocationHas(t *testing.T) {
	p := parse(t, `{"anyOf":[{"type":"string","format":"uri"},{"type":"string","x-stopgate-type":"path"}]}`).Location()
	for a, want := range map[schema.Annotation]bool{schema.URL: true, schema.Path: true, schema.Command: false} {
		if p.Has(a) != want {
			t.Errorf("Has(%v) = %v", a, !want)
		}
	}
}

// Proves B9: a location has the defaults of all branches.
func TestB9LocationDefaults(t *testing.T) {
	s := parse(t, `{"properties":{"a":{"default":"x","anyOf":[{"default":1},{}]},"b":{}}}`)
	var got []string
	for _, v := range locate(t, s, "a").Defaults() {
		got = append(got, string(v.Raw()))
	}
	if strings.Join(got, " ") != `"x" 1` || len(locate(t, s, "b").Defaults()) != 0 {
		t.Errorf("defaults %q", got)
	}
}

// Proves B3, K23: a member is required if every branch that always applies requires it.
func TestLocationRequired(t *testing.T) {
	s := parse(t, `{"properties":{"a":{},"b":{},"c":{},"d":{"required":true}},"required":["a"],"allOf":[{"required":["b"]}],"anyOf":[{"required":["c"]},{}]}`)
	want := map[string]bool{"a": true, "b": true, "c": false, "d": true}
	for _, d := range s.Location().Properties() {
		if d.Required != want[d.Name] {
			t.Errorf("%s: required %v", d.Name, d.Required)
		}
	}
}

// Proves K23: recursion leads back to the same location, and elements of a tuple have their own
// locations.
func TestLocationIdentity(t *testing.T) {
	s := parse(t, `{"$ref":"#/$defs/tree","$defs":{"tree":{"properties":{"kids":{"items":{"$ref":"#/$defs/tree"}},"name":{"type":"string"}}}}}`)
	first := locate(t, s, "kids", "*")
	if second := locate(t, s, "kids", "*", "kids", "*"); first != second {
		t.Error("recursion does not lead back")
	}
	tuple := parse(t, `{"prefixItems":[{"type":"string"},{"type":"number"}],"items":{"type":"null"}}`).Location()
	for i, want := range []schema.Type{schema.String, schema.Number, schema.Null, schema.Null} {
		if got := tuple.Item(i).Types(); got != want {
			t.Errorf("element %d: %v, want %v", i, got, want)
		}
	}
}

// Proves K22: all lookups work on an unknown schema.
func TestUnknownSchema(t *testing.T) {
	var s *schema.Schema
	m := s.Location().Member([]byte("x"))
	if m.Kind != schema.FreeForm || m.Property != -1 || !m.Location.Unknown() || m.Location != s.Location().Items() || m.Location.Item(3) != m.Location {
		t.Errorf("%+v", m)
	}
	if s.Validate(value(t, `{"x":1}`)) != nil {
		t.Error("the unknown schema refuses")
	}
	if string(s.ToJSONSchema()) != "true" || len(s.Hash()) != 64 {
		t.Errorf("%s %s", s.ToJSONSchema(), s.Hash())
	}
	for range s.All() {
		t.Error("the unknown schema lists places")
	}
	var zero schema.Schema
	if zero.Validate(value(t, `{}`)) == nil {
		t.Error("the zero Schema accepts")
	}
	if len(zero.Hash()) != 64 || string(zero.ToJSONSchema()) != "true" {
		t.Error("the zero Schema does not print")
	}
}

// Looking up declared keys and elements does not allocate.
func TestMemberAllocates(t *testing.T) {
	s := parse(t, `{"properties":{"path":{"type":"string"},"list":{"items":{"properties":{"a":{}}}}}}`)
	path, list, a := []byte("path"), []byte("list"), []byte("a")
	allocs := testing.AllocsPerRun(100, func() {
		p := s.Location()
		if p.Member(path).Kind != schema.DeclaredName || p.Member(list).Location.Item(7).Member(a).Property != 0 {
			t.Error("not found")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
