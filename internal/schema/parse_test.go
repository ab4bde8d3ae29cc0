package schema_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/schema"
)

// Proves A17, A18, K23: a text that is not a usable schema is rejected, with a pointer.
func TestParseJSONRefuses(t *testing.T) {
	wide := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	tests := []struct{ name, text, pointer, message string }{
		{"no JSON", `{"type":`, "/type", "at byte 8"},
		{"duplicate keyword", `{"type":"string","type":"object"}`, "/type", "at byte 23"},
		{"too deep", strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200), strings.Repeat("/items", 128), "deep"},
		{"too long", `{"description":"` + strings.Repeat("x", 4<<20) + `"}`, "/description", "at byte 4194305"},
		{"no schema", `[]`, "", "a schema is an object, true or false, not an array"},
		{"no schema below", `{"properties":{"a":"string"}}`, "/properties/a", "a schema is an object, true or false, not a string"},
		{"null", `{"items":null}`, "/items", "not null"},
		{"properties", `{"properties":[]}`, "/properties", "must be an object, not an array"},
		{"pattern properties", `{"patternProperties":1}`, "/patternProperties", "must be an object, not a number"},
		{"dependencies", `{"dependencies":1}`, "/dependencies", "must be an object"},
		{"dependent required", `{"dependentRequired":1}`, "/dependentRequired", "must be an object"},
		{"dependent list", `{"dependentRequired":{"a/b":1}}`, "/dependentRequired/a~1b", "must be an array, not a number"},
		{"all of", `{"allOf":{}}`, "/allOf", "must be an array, not an object"},
		{"prefix items", `{"prefixItems":true}`, "/prefixItems", "must be an array, not true"},
		{"element of any of", `{"anyOf":[{},1]}`, "/anyOf/1", "a schema is an object"},
		{"type", `{"type":1}`, "/type", "must be a string, not a number"},
		{"type in a list", `{"type":["string",1]}`, "/type/1", "must be a string"},
		{"enum", `{"enum":"a"}`, "/enum", "must be an array"},
		{"required", `{"required":"a"}`, "/required", "must be an array"},
		{"required name", `{"required":[1]}`, "/required/0", "must be a string"},
		{"minimum", `{"minimum":"1"}`, "/minimum", "must be a number, not a string"},
		{"exclusive minimum", `{"exclusiveMinimum":"1"}`, "/exclusiveMinimum", "must be a number"},
		{"multiple of nothing", `{"multipleOf":0}`, "/multipleOf", "greater than 0"},
		{"negative multiple", `{"multipleOf":-1}`, "/multipleOf", "greater than 0"},
		{"count", `{"minLength":1.5}`, "/minLength", "whole number"},
		{"negative count", `{"maxItems":-1}`, "/maxItems", "whole number"},
		{"count of another type", `{"maxItems":"3"}`, "/maxItems", "must be a number"},
		{"pattern", `{"pattern":1}`, "/pattern", "must be a string"},
		{"flag", `{"uniqueItems":"yes"}`, "/uniqueItems", "must be true or false, not a string"},
		{"nullable", `{"nullable":null}`, "/nullable", "must be true or false"},
		{"annotation", `{"x-stopgate-type":"shell"}`, "/x-stopgate-type", "path, command, url, patch or argv"},
		{"annotation of another type", `{"x-stopgate-type":1}`, "/x-stopgate-type", "must be a string"},
		{"reference of another type", `{"$ref":1}`, "/$ref", "must be a string"},
		{"reference to nothing", `{"$ref":"#/$defs/a"}`, "/$ref", `"#/$defs/a" leads nowhere`},
		{"reference below nothing", `{"$ref":"#/$defs/a/b"}`, "/$ref", "leads nowhere"},
		{"reference into a string", `{"$ref":"#/title/x","title":"t"}`, "/$ref", "leads nowhere"},
		{"reference to no schema", `{"$ref":"#/title","title":"t"}`, "/title", "a schema is an object"},
		{"reference that is no pointer", `{"$ref":"#/a~b"}`, "/$ref", "leads nowhere"},
		{"reference with a wrong escape", `{"$ref":"#/%zz"}`, "/$ref", "leads nowhere"},
		{"reference with a cut escape", `{"$ref":"#/a%2"}`, "/$ref", "leads nowhere"},
		{"cycle", `{"$ref":"#"}`, "", "refers to itself"},
		{"cycle of two", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "/$defs/a", "refers to itself"},
		{"cycle over alternatives", `{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"type":"null"},{"allOf":[{"$ref":"#/$defs/a"}]}]}}}`, "/$defs/a", "refers to itself"},
		{"cycle over a condition", `{"$defs":{"a":{"if":{"not":{"$ref":"#/$defs/a"}}}},"properties":{"x":{"$ref":"#/$defs/a"}}}`, "/$defs/a", "refers to itself"},
		{"cycle over a dependent schema", `{"dependentSchemas":{"a":{"$ref":"#"}}}`, "", "refers to itself"},
		{"long chain", chain(200), "/$defs/99", "nest too deep"},
		{"many parts", `{"anyOf":[` + wide(20_001, `{"title":"%d"},`) + `]}`, "/anyOf/19999", "more than 20000 parts"},
		{"many combinations", subsets(20), "", "too many to follow"},
		{"much work for few places", wideParts(200, 90), "", "too many to follow"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, _, err := schema.ParseJSON([]byte(test.text))
			var failed *schema.ParseError
			if !errors.As(err, &failed) || s != nil {
				t.Fatalf("%v", err)
			}
			if failed.Pointer != test.pointer || !strings.Contains(failed.Message, test.message) {
				t.Errorf("%q at %q, want %q at %q", failed.Message, failed.Pointer, test.message, test.pointer)
			}
			if !strings.HasPrefix(failed.Error(), "schema: ") || failed.Pointer == "" && !strings.HasSuffix(failed.Error(), "at the root") {
				t.Errorf("%v", failed)
			}
		})
	}
}

// chain returns a schema of n references, each to the next.
func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"$ref":"#/$defs/%d"},`, i, i+1)
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/0","$defs":{%s"%d":{}}}`, b.String(), n)
}

// wideParts returns an allOf with a number of parts and members.
func wideParts(parts, members int) string {
	var b strings.Builder
	for i := range parts {
		fmt.Fprintf(&b, `{"properties":{"p%d":{}`, i*members)
		for j := 1; j < members; j++ {
			fmt.Fprintf(&b, `,"p%d":{}`, i*members+j)
		}
		b.WriteString("}},")
	}
	return `{"allOf":[` + strings.TrimSuffix(b.String(), ",") + `]}`
}

// subsets returns the classical worst case of the subset construction: whether the nth member from
// the end of a path is "a" needs a location for each subset of n nodes.
func subsets(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{"d0":{"properties":{"a":{"allOf":[{"$ref":"#/$defs/d0"},{"$ref":"#/$defs/d1"}]},"b":{"$ref":"#/$defs/d0"}}}`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, `,"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `,"d%d":{}}}`, n)
	return b.String()
}

// Proves K0g, K23, K45: a keyword that is not validated, not followed or not known is a note with
// its pointer, and the rest of the schema applies.
func TestParseJSONNotes(t *testing.T) {
	tests := []struct{ name, text, pointer, keyword, message string }{
		{"unknown keyword", `{"properties":{"a":{"minimun":1}}}`, "/properties/a/minimun", "minimun", "ignored"},
		{"unevaluated properties", `{"unevaluatedProperties":false}`, "/unevaluatedProperties", "unevaluatedProperties", "not validated"},
		{"unevaluated items", `{"items":{"unevaluatedItems":{}}}`, "/items/unevaluatedItems", "unevaluatedItems", "not validated"},
		{"dynamic reference", `{"$dynamicRef":"#x"}`, "/$dynamicRef", "$dynamicRef", "not validated"},
		{"recursive reference", `{"$recursiveRef":"#"}`, "/$recursiveRef", "$recursiveRef", "not validated"},
		{"remote reference", `{"$ref":"https://example.com/s"}`, "/$ref", "$ref", "other documents are not followed"},
		{"relative reference", `{"$ref":"s.json#/a"}`, "/$ref", "$ref", "other documents"},
		{"anchor", `{"$ref":"#name"}`, "/$ref", "$ref", "anchors are not followed"},
		{"inner id", `{"properties":{"a":{"$id":"https://x.example/a","$ref":"#/$defs/b"}}}`, "/properties/a/$ref", "$ref", "inner $id"},
		{"backreference", `{"pattern":"(a)\\1"}`, "/pattern", "pattern", "not validated: pattern: backreferences are not supported at byte 3"},
		{"invalid pattern", `{"pattern":"("}`, "/pattern", "pattern", "is not closed"},
		{"pattern of properties", `{"patternProperties":{"(a)\\1":{}}}`, "/patternProperties/(a)\\1", "patternProperties", "not validated"},
		{"pattern properties", `{"patternProperties":{"a":{}}}`, "/patternProperties", "patternProperties", "rules do not see"},
		{"not", `{"not":{}}`, "/not", "not", "rules do not see"},
		{"if", `{"if":{},"then":{}}`, "/if", "if", "rules do not see"},
		{"dependent schemas", `{"dependentSchemas":{}}`, "/dependentSchemas", "dependentSchemas", "rules do not see"},
		{"dependencies", `{"dependencies":{}}`, "/dependencies", "dependencies", "rules do not see"},
		{"type", `{"type":"file"}`, "/type", "type", `"file" is not a type`},
		{"type in a list", `{"type":["string","any"]}`, "/type", "type", `"any" is not a type`},
		{"draft 3's required", `{"properties":{"a":{"required":true}}}`, "/properties/a/required", "required", "draft 3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, notes, err := schema.ParseJSON([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range notes {
				if n.Pointer == test.pointer && n.Keyword == test.keyword && strings.Contains(n.Message, test.message) {
					return
				}
			}
			t.Errorf("%+v", notes)
		})
	}
}

// Proves K0g: descriptions are no notes.
func TestParseJSONDescriptions(t *testing.T) {
	text := `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://x.example/#","$comment":"c","title":"t","description":"d",
		"examples":[1],"example":1,"deprecated":true,"readOnly":true,"writeOnly":false,"x-anything":{},"unevaluatedProperties":true,
		"properties":{"$id":{"type":"string","contentEncoding":"base64","contentMediaType":"x/y","format":"date"},
		"b":{"$id":"#b","$anchor":"b","$ref":"#/$defs/c"}},
		"$defs":{"c":{"type":"string"}},"definitions":{"unused":{"nonsense":1}}}`
	s, notes, err := schema.ParseJSON([]byte(text))
	if err != nil || len(notes) != 0 {
		t.Errorf("%v %+v", err, notes)
	}
	if s.Source != schema.FromJSON || s.Root.Title != "t" || s.Root.Description != "d" {
		t.Errorf("%+v", s.Root)
	}
}

// Proves K23: nodes have their keywords that are not validated.
func TestNodeUnvalidated(t *testing.T) {
	s := parse(t, `{"pattern":"(a)\\1","$ref":"x.json"}`)
	if !s.Root.Open || strings.Join(s.Root.Unvalidated, " ") != "pattern $ref" {
		t.Errorf("%+v", s.Root.Unvalidated)
	}
}

// Counts that no int can represent.
func TestParseJSONLargeCounts(t *testing.T) {
	s := parse(t, `{"properties":{"a":{"maxLength":1e30},"b":{"minLength":1e30},"c":{"maxItems":2.0}}}`)
	for text, fits := range map[string]bool{`{"a":"xx"}`: true, `{"b":"xx"}`: false, `{"c":[1,2]}`: true, `{"c":[1,2,3]}`: false} {
		if (s.Validate(value(t, text)) == nil) != fits {
			t.Errorf("%s", text)
		}
	}
}

// Proves A18, D5: the notes and the patterns of an untrusted schema are limited, and exceeding the
// limit is noted.
func TestParseJSONBoundsNotes(t *testing.T) {
	var unknown, patterns strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&unknown, `,"k%d":1`, i)
		fmt.Fprintf(&patterns, `,"p%d":{"pattern":"^[a-z_A-Z.0-9]{%d}$"}`, i, i%50+1)
	}
	_, notes, err := schema.ParseJSON([]byte(`{"title":"t"` + unknown.String() + `}`))
	if err != nil || len(notes) != 201 || notes[200].Message != "there are more notes than these" {
		t.Errorf("%v, %d notes", err, len(notes))
	}
	s, notes, err := schema.ParseJSON([]byte(`{"properties":{"first":{"pattern":"^a$"}` + patterns.String() + `,"last":{"pattern":"^a$"}}}`))
	if err != nil || len(notes) == 0 || notes[0].Keyword != "pattern" || !strings.Contains(notes[0].Message, "longer than 16384 bytes together") {
		t.Fatalf("%v %+v", err, notes)
	}
	if s.Validate(value(t, `{"first":"b"}`)) == nil {
		t.Error("the first pattern is not validated")
	}
	last := s.Location().Member([]byte("last")).Location
	if s.Validate(value(t, `{"last":"b"}`)) != nil || last.Unknown() {
		t.Error("the last pattern is validated, or hides its place")
	}
}

// Proves A18: the memory for schemas below long names is proportional to their text.
func TestParseJSONMemory(t *testing.T) {
	long := strings.Repeat("x", 1000)
	var members strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&members, `"k%d":{},`, i)
	}
	depth := 50
	text := strings.Repeat(`{"properties":{"`+long+`":`, depth) + `{"properties":{` + members.String() + `"z":{}}}` + strings.Repeat("}}", depth)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	parse(t, text)
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 50<<20 {
		t.Errorf("%d MiB for a text of %d KiB", spent>>20, len(text)>>10)
	}
}
