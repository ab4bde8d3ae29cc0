package schema_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// FuzzParseJSON parses any text as a schema, and validates any value and key with accepted ones:
// nothing panics or hangs, errors have a pointer, the printed schema parses, and results do not
// depend on the order of calls.
func FuzzParseJSON(f *testing.F) {
	for seed := range uint64(50) {
		m := &maker{r: rand.New(rand.NewPCG(seed, 2))}
		f.Add(m.document(), m.value(3), m.key())
	}
	f.Add(treeSchema, `{"path":"a","patterns":[{"old":"b"}]}`, "PATH")
	f.Add(ordinary, ordinaryArguments, "path\x00")
	f.Add(subsets(6), `{"a":{"b":{}}}`, "a")
	f.Add(`{"$ref":"#/%24defs/a","$defs":{"a":{"nullable":true,"format":"uri","exclusiveMinimum":true,"minimum":1}}}`, `null`, "")
	f.Add(`{"properties":{"é":{"$id":"x"},"ﬁ":false},"patternProperties":{"(?=a)":{}},"dependencies":{"a":["b"]}}`, `{"é":1,"FI":2}`, "e\u0301")
	f.Fuzz(func(t *testing.T, text, val, key string) {
		s, notes, err := schema.ParseJSON([]byte(text))
		if err != nil {
			var failed *schema.ParseError
			if !errors.As(err, &failed) || failed.Message == "" || s != nil {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, n := range notes {
			if n.Keyword == "" || n.Message == "" {
				t.Fatalf("%+v", n)
			}
		}
		printed := s.ToJSONSchema()
		if _, err := jsonstream.Parse(printed, jsonstream.Options{MaxDepth: jsonstream.LargestMaxDepth}); err != nil {
			t.Fatalf("printed %s: %v", printed, err)
		}
		if second, _, err := schema.ParseJSON(printed); err == nil && !bytes.Equal(second.ToJSONSchema(), printed) {
			t.Fatalf("printed %s, then %s", printed, second.ToJSONSchema())
		}
		if len(s.Hash()) != 64 {
			t.Fatal("no hash")
		}
		member := s.Location().Member([]byte(key))
		if member.Location == nil || member.Property >= len(s.Location().Properties()) || member != s.Location().Member([]byte(key)) {
			t.Fatalf("%+v", member)
		}
		if reach := s.Reach(jsonstream.Pointer{key}); reach.Missing == -1 && len(reach.Locations) == 0 || reach.Missing != -1 && reach.Problem == "" {
			t.Fatalf("%+v", reach)
		} else if member.Kind == schema.DeclaredName && reach.Missing != -1 && s.Location().Types() != 0 {
			t.Fatalf("%q is declared, but %s", key, reach.Problem)
		}
		for range s.All() {
			break
		}
		v, err := jsonstream.Parse([]byte(val), jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
		if err != nil {
			return
		}
		first, second := s.Validate(v), s.Validate(v)
		if (first == nil) != (second == nil) || first != nil && *first != *second {
			t.Fatalf("%v, then %v", first, second)
		}
		if first != nil && first.Message == "" {
			t.Fatalf("%+v", first)
		}
	})
}
