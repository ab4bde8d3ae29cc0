package jsonstream_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/jsonstream"
)

// document is a random value: its text in a random spelling, its canonical text, and its value for
// a reader with literal numbers.
type document struct {
	text, ours string
	value      any
}

// documents draws values at most depth levels deep.
func documents(depth int) *rapid.Generator[document] {
	return rapid.Custom(func(t *rapid.T) document {
		kinds := 4
		if depth > 0 {
			kinds = 6
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			s := rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "name")
			return document{s, s, map[string]any{"true": true, "false": false}[s]}
		case 1:
			s := rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][-+]?[0-9]{1,5})?`).Draw(t, "number")
			return document{s, s, json.Number(s)}
		case 2, 3:
			s := texts.Draw(t, "string")
			return document{spell(t, s), plainSpelling(s), s}
		case 4:
			return drawArray(t, depth)
		}
		return drawObject(t, depth)
	})
}

func drawArray(t *rapid.T, depth int) document {
	var text, ours []string
	value := []any{}
	for range rapid.IntRange(0, 4).Draw(t, "length") {
		d := documents(depth-1).Draw(t, "element")
		text, ours, value = append(text, gap(t)+d.text+gap(t)), append(ours, d.ours), append(value, d.value)
	}
	return document{"[" + strings.Join(text, ",") + gap(t) + "]", "[" + strings.Join(ours, ",") + "]", value}
}

func drawObject(t *rapid.T, depth int) document {
	var text, ours []string
	value := map[string]any{}
	for range rapid.SampledFrom([]int{0, 1, 2, 5, 20}).Draw(t, "members") {
		key := texts.Draw(t, "key")
		if _, there := value[key]; there {
			continue
		}
		d := documents(depth-1).Draw(t, "value")
		text = append(text, gap(t)+spell(t, key)+gap(t)+":"+gap(t)+d.text+gap(t))
		ours = append(ours, plainSpelling(key)+":"+d.ours)
		value[key] = d.value
	}
	return document{"{" + strings.Join(text, ",") + gap(t) + "}", "{" + strings.Join(ours, ",") + "}", value}
}

// texts draws the text of strings and keys.
var texts = rapid.OneOf(
	rapid.StringN(0, 20, 60),
	rapid.StringMatching(`[a-z]{0,2}`),
	rapid.StringOfN(rapid.SampledFrom([]rune("\"\\/\b\f\n\r\t\x00\x1f\x7fé中😀\u2028 a")), 0, 20, 60),
)

// gap draws white space.
func gap(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r\n"}).Draw(t, "gap")
}

// spell writes a string with random escapes.
func spell(t *rapid.T, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		short := strings.IndexRune("\"\\/\b\f\n\r\t", r)
		must := r < ' ' || r == '"' || r == '\\'
		switch style := rapid.IntRange(0, 3).Draw(t, "style"); {
		case style == 0 && short >= 0:
			b.WriteString(`\` + string(`"\/bfnrt`[short]))
		case style == 1 || must:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "case"), unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plainSpelling returns the canonical spelling of a string, character by character.
func plainSpelling(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case strings.ContainsRune("\b\f\n\r\t", r):
			b.WriteString(map[rune]string{'\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}[r])
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// Proves F043-08, F043-09, F043-10, I2, I8: a random value in a random spelling and random chunks
// is written as the same value in canonical spelling, and all readers agree on it.
func TestRoundTrip(t *testing.T) {
	var a jsonstream.Aggregator
	var p jsonstream.Parser
	var d jsonstream.Document
	check(t, func(t *rapid.T) {
		doc := documents(3).Draw(t, "document")
		text := []byte(gap(t) + doc.text + gap(t))
		a.Reset()
		p.Reset(&a, generous)
		for from := 0; from < len(text); {
			n := rapid.IntRange(0, min(len(text)-from, 40)).Draw(t, "chunk")
			if err := p.Feed(text[from : from+n]); err != nil {
				t.Fatal(err)
			}
			from += n
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if string(a.Bytes()) != doc.ours {
			t.Fatalf("%s\nis written as\n%s\nwant\n%s", text, a.Bytes(), doc.ours)
		}
		if err := d.Scan(text, generous); err != nil {
			t.Fatal(err)
		}
		for _, v := range []jsonstream.Value{a.Document().Root(), d.Root()} {
			if got := goValue(v); !reflect.DeepEqual(got, doc.value) {
				t.Fatalf("%s\nis read as %#v", text, got)
			}
		}
		if v, err := stdlib(a.Bytes()); err != nil || !reflect.DeepEqual(v, doc.value) {
			t.Fatalf("%s: encoding/json reads %#v, %v", a.Bytes(), v, err)
		}
		for _, firstWins := range []bool{true, false} {
			if v, err := readLenient(doc.ours, firstWins); err != nil || !reflect.DeepEqual(v, doc.value) {
				t.Fatalf("%s: a lenient reader reads %#v, %v", a.Bytes(), v, err)
			}
		}
		if jsonstream.HashCanonical(d.Root()) != jsonstream.HashCanonical(a.Document().Root()) {
			t.Fatalf("%s: another hash in our spelling", text)
		}
		if same := goValue(mustParse(t, jsonstream.AppendCanonical(nil, d.Root()))); !reflect.DeepEqual(normal(same), normal(doc.value)) {
			t.Fatalf("%s\nis %#v in canonical form", text, same)
		}
	})
}

// check runs a property on the default number of random cases with -short, on ten times as many
// otherwise, and on five hundred times as many in the long tier.
func check(t *testing.T, p func(*rapid.T)) {
	factor := 10
	if testing.Short() {
		factor = 1
	} else if os.Getenv("STOPGATE_LONG") != "" {
		factor = 500
	}
	property.Many(t, factor, p)
}

func mustParse(t rapid.TB, text []byte) jsonstream.Value {
	v, err := jsonstream.Parse(text, generous)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// normal replaces the numbers in a value by decimals, which are equal if the
// numbers are.
func normal(v any) any {
	switch v := v.(type) {
	case json.Number:
		d, _ := jsonstream.ParseDecimal([]byte(v))
		return d
	case []any:
		list := slices.Clone(v)
		for i := range list {
			list[i] = normal(list[i])
		}
		return list
	case map[string]any:
		m := map[string]any{}
		for key := range v {
			m[key] = normal(v[key])
		}
		return m
	}
	return v
}

// Proves F043-08, L4: the spelling of the aggregator, and the value that each event completes.
func TestAggregator(t *testing.T) {
	var a jsonstream.Aggregator
	var last []string
	p := jsonstream.NewParser(handler(func(e *jsonstream.Event) bool {
		a.Event(e)
		if v := a.Last(); v.IsValid() {
			last = append(last, fmt.Sprintf("%v %s", v.Kind(), v.Raw()))
		}
		if whole := a.Bytes() != nil; whole != (e.Kind == jsonstream.End) {
			t.Errorf("%v: whole is %t", e.Kind, whole)
		}
		return false
	}), jsonstream.Options{})
	p.Feed([]byte(` { "a\/\u0062" : [ 1.0 , -0 , 1E+5 , "\u00e9\u000a\u0022\u007f" , { } , [ ] ] , "\t" : null , "c":{"d":[[true],false]}, "\ud83d\ude00":"" } `))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	const want = `{"a/b":[1.0,-0,1E+5,"é\n\"` + "\x7f" + `",{},[]],"\t":null,"c":{"d":[[true],false]},"😀":""}`
	if string(a.Bytes()) != want {
		t.Errorf("written as\n%s\nwant\n%s", a.Bytes(), want)
	}
	wantLast := []string{
		`number 1.0`, `number -0`, `number 1E+5`, `string "é\n\"` + "\x7f" + `"`, `object {}`, `array []`,
		`array [1.0,-0,1E+5,"é\n\"` + "\x7f" + `",{},[]]`, `null null`, `true true`, `array [true]`, `false false`, `array [[true],false]`,
		`object {"d":[[true],false]}`, `string ""`, `object ` + want,
	}
	if !slices.Equal(last, wantLast) {
		t.Errorf("values:\n%q\nwant\n%q", last, wantLast)
	}
	if key, ok := a.Document().Root().Get("\t"); !ok || key.Kind() != jsonstream.Null {
		t.Error("a key with an escape is not found")
	}
	a.Reset()
	if a.Bytes() != nil || a.Last().IsValid() || a.Document().Root().IsValid() {
		t.Error("something is left after Reset")
	}
}

// Proves A18: a large aggregator frees its memory, and continues.
func TestAggregatorAfterLargeText(t *testing.T) {
	var a jsonstream.Aggregator
	for _, text := range []string{`["` + strings.Repeat("x", 3<<20) + `"]`, `[1]`, "[" + strings.Repeat("0,", 200_000) + "0]", `["a"]`} {
		a.Reset()
		p := jsonstream.NewParser(&a, jsonstream.Options{})
		p.Feed([]byte(text))
		if err := p.Close(); err != nil || string(a.Bytes()) != text {
			t.Errorf("%.20s: %.20s, %v", text, a.Bytes(), err)
		}
	}
}

// copier is a handler that requests decoded text up to the first part with an x in it.
type copier struct {
	parts  []string
	copies bool
}

func (c *copier) WantsEncoded() bool { return c.copies }

func (c *copier) Event(e *jsonstream.Event) (stop bool) {
	switch e.Kind {
	case jsonstream.Key:
		c.parts = append(c.parts, string(e.Text)+":")
	case jsonstream.StringStart:
		c.copies = false
	case jsonstream.StringPart:
		if e.Encoded && !c.copies {
			c.parts = append(c.parts, "spelled for nobody")
		}
		c.parts = append(c.parts, fmt.Sprintf("%s %t %t %d", e.Text, e.Encoded, e.Escaped, e.Offset))
		c.copies = c.copies || strings.Contains(string(e.Text), "x")
	}
	return false
}

// Proves F043-08: a handler that only copies gets text as spelled from the next part on, except for
// non-canonical spellings; keys are always decoded.
func TestEncodedTextHandler(t *testing.T) {
	var c copier
	p := jsonstream.NewParser(&c, jsonstream.Options{})
	for _, piece := range []string{`{"k\n":"a\nx`, `b\n\"ü\/c\u0041d\`, `\e\ud83d\ude00`, `","l":"\t"}`} {
		p.Feed([]byte(piece))
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"k\n:", "a false false 9", "\n false true 11", "x false false 12",
		`b\n\"ü true true 19`, "/ false true 21", "c true false 22", "A false true 28", "d true false 29",
		`\ false true 31`, "e true false 32", "😀 false true 44",
		"l:", "\t false true 53",
	}
	if !slices.Equal(c.parts, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(c.parts, "\n"), strings.Join(want, "\n"))
	}
}
