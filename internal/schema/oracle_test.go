package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// maker returns random schemas, and values that nearly fit them. Numbers are small integers and
// halves, for which the oracle is exact (K45).
type maker struct {
	r    *rand.Rand
	defs int
}

func (m *maker) pick(list ...string) string { return list[m.r.IntN(len(list))] }

func (m *maker) schema(depth int) string {
	if m.r.IntN(20) == 0 {
		return m.pick("true", "false", "{}")
	}
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	few := func() int { return m.r.IntN(3) }
	some := func(n int) bool { return m.r.IntN(n) == 0 }
	list := func() string {
		var all []string
		for range 1 + m.r.IntN(3) {
			all = append(all, m.schema(depth-1))
		}
		return strings.Join(all, ",")
	}
	if some(2) {
		add(`"type":%s`, m.pick(`"string"`, `"number"`, `"integer"`, `"boolean"`, `"object"`, `"array"`, `"null"`, `["string","array"]`, `["object","null"]`))
	}
	for range m.r.IntN(3) {
		switch m.r.IntN(16) {
		case 0:
			add(`"enum":[%s,%s,%s]`, m.value(1), m.value(1), m.value(0))
		case 1:
			add(`"const":%s`, m.value(1))
		case 2:
			add(`"minimum":%d`, few())
		case 3:
			add(`"maximum":%d`, few())
		case 4:
			add(`"exclusiveMinimum":%d`, few())
		case 5:
			add(`"exclusiveMaximum":%d`, few())
		case 6:
			add(`"multipleOf":%s`, m.pick("0.5", "1", "2"))
		case 7:
			add(`"minLength":%d`, few())
		case 8:
			add(`"maxLength":%d`, few())
		case 9:
			add(`"pattern":%s`, m.pick(`"^a"`, `"b$"`, `"é"`))
		case 10:
			add(`"minItems":%d,"maxItems":%d`, few(), 1+few())
		case 11:
			add(`"uniqueItems":true`)
		case 12:
			add(`"minProperties":%d,"maxProperties":%d`, few(), 1+few())
		case 13:
			add(`"required":["%s"]`, m.key())
		case 14:
			add(`"dependentRequired":{"%s":["%s"]}`, m.key(), m.key())
		case 15:
			add(`"propertyNames":{"maxLength":%d}`, 1+few())
		}
	}
	if depth > 0 {
		if some(2) {
			add(`"properties":{"a":%s,"b":%s}`, m.schema(depth-1), m.schema(depth-1))
		}
		if some(5) {
			add(`"additionalProperties":%s`, m.schema(depth-1))
		}
		if some(8) {
			add(`"patternProperties":{"^c":%s}`, m.schema(depth-1))
		}
		if some(3) {
			add(`"items":%s`, m.schema(depth-1))
		}
		if some(8) {
			add(`"prefixItems":[%s]`, list())
		}
		if some(10) {
			add(`"contains":%s,"minContains":%d,"maxContains":%d`, m.schema(depth-1), few(), 1+few())
		}
		if some(8) {
			add(`"allOf":[%s]`, list())
		}
		if some(6) {
			add(`"anyOf":[%s]`, list())
		}
		if some(8) {
			add(`"oneOf":[%s]`, list())
		}
		if some(12) {
			add(`"not":%s`, m.schema(depth-1))
		}
		if some(12) {
			add(`"if":%s,"then":%s,"else":%s`, m.schema(depth-1), m.schema(depth-1), m.schema(depth-1))
		}
		if some(12) {
			add(`"dependentSchemas":{"%s":%s}`, m.key(), m.schema(depth-1))
		}
	}
	if some(6) {
		add(`"$ref":"#/$defs/d%d"`, m.r.IntN(m.defs))
	}
	// A schema has each keyword once.
	seen := map[string]bool{}
	var once []string
	for _, part := range parts {
		if key, _, _ := strings.Cut(part, ":"); !seen[key] {
			seen[key] = true
			once = append(once, part)
		}
	}
	return "{" + strings.Join(once, ",") + "}"
}

// document returns a schema with definitions that refer to each other only below a member, so that
// every cycle of references has a step.
func (m *maker) document() string {
	m.defs = 1
	d0 := strings.ReplaceAll(m.schema(1), `"$ref"`, `"$comment"`)
	m.defs = 2
	d1 := fmt.Sprintf(`{"properties":{"a":%s},"additionalProperties":{"$ref":"#/$defs/d1"}}`, m.schema(1))
	root := m.schema(3)
	for !strings.HasPrefix(root, "{") {
		root = m.schema(3)
	}
	inner := strings.TrimSuffix(root[1:], "}")
	if inner != "" {
		inner += ","
	}
	return `{` + inner + `"$defs":{"d0":` + d0 + `,"d1":` + d1 + `}}`
}

func (m *maker) key() string { return m.pick("a", "b", "c", "cc", "d") }

func (m *maker) value(depth int) string {
	n := 7
	if depth > 0 {
		n = 12
	}
	switch m.r.IntN(n) {
	case 0:
		return m.pick("true", "false")
	case 1:
		return "null"
	case 2, 3, 4:
		return m.pick("0", "1", "2", "3", "-1", "0.5", "1.5")
	case 5, 6:
		return m.pick(`""`, `"a"`, `"ab"`, `"b"`, `"é"`, `"c"`)
	case 7, 8:
		var all []string
		for range m.r.IntN(4) {
			all = append(all, m.value(depth-1))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	var all []string
	seen := map[string]bool{}
	for range m.r.IntN(4) {
		if key := m.key(); !seen[key] {
			seen[key] = true
			all = append(all, `"`+key+`":`+m.value(depth-1))
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}

// judge returns the oracle of a schema; ok is false if the oracle does not support it.
func judge(text string) (ask func(value string) bool, ok bool) {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, false
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, false
	}
	return func(value string) bool {
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			return false
		}
		return resolved.Validate(v) == nil
	}, true
}

// Proves K0g, K45: results equal those of an independent implementation, and the printed schema
// means the same. The violation does not depend on the order of keys.
func TestValidateLikeReference(t *testing.T) {
	rounds := 1_000
	if testing.Short() {
		rounds = 200
	}
	if os.Getenv("STOPGATE_LONG") != "" {
		rounds = 20_000
	}
	var fits, refused, unusable int
	for seed := range rounds {
		m := &maker{r: rand.New(rand.NewPCG(uint64(seed), 1))}
		text := m.document()
		ask, ok := judge(text)
		s, _, err := schema.ParseJSON([]byte(text))
		if !ok || err != nil {
			unusable++
			if ok && !strings.Contains(err.Error(), "refers to itself") {
				t.Fatalf("%s: %v", text, err)
			}
			continue
		}
		printed := parse(t, string(s.ToJSONSchema()))
		for range 10 {
			v := m.value(3)
			parsed := value(t, v)
			violation := s.Validate(parsed)
			want := ask(v)
			if (violation == nil) != want {
				t.Fatalf("seed %d: %s\non %s\ngot %v, the reference says %v", seed, text, v, violation, want)
			}
			if (printed.Validate(parsed) == nil) != want {
				t.Fatalf("seed %d: %s\nprinted as %s\non %s: another verdict", seed, text, s.ToJSONSchema(), v)
			}
			sorted := s.Validate(value(t, string(jsonstream.AppendCanonical(nil, parsed))))
			if violation != nil && *sorted != *violation {
				t.Fatalf("seed %d: %s\non %s\nin another order %v, not %v", seed, text, v, sorted, violation)
			}
			if want {
				fits++
			} else {
				refused++
			}
		}
	}
	t.Logf("fits %d, refused %d, schemas of no use %d", fits, refused, unusable)
	if fits < rounds || refused < rounds {
		t.Error("the generator has gone stale")
	}
}
