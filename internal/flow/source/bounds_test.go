package source_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/source"
)

const fields = "[sources.s]\ntool = \"get\"\nfield = \"/*/email\"\n[sources.w]\ntool = \"get\"\nformat = \"FORMAT\"\nfield = \"/*/email\"\n"

// A result of 10^5 leaves is read, one of 50 MiB is one text in which anything may occur, and
// neither is more trusted than a small one.
func TestLargeResults(t *testing.T) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range 50_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"email":"a%d@x.com","n":%d}`, i, i)
	}
	b.WriteByte(']')
	s := begin(t, strings.Replace(fields, "FORMAT", "json", 1))
	s.called("get", `{}`, b.String())
	if got := s.index.of("s"); len(got) != 50_000 || got[49_999] != "a49999@x.com" {
		t.Errorf("%d texts of the source", len(got))
	}
	if n := len(s.index.of(flow.Tool)); n != 100_002 {
		t.Errorf("%d texts", n)
	}

	s = begin(t, strings.Replace(fields, "FORMAT", "json", 1))
	s.called("get", `{}`, `[{"email":"evil@x.com","x":"`+strings.Repeat("a", 50<<20)+`"}]`)
	want(t, "certain", s.index.of("s"))
	want(t, "texts", s.index.texts(), "[tool]?[s w] opaque ")

	s = begin(t, strings.Replace(fields, "FORMAT", "json", 1))
	s.called("get", `{}`, strings.Repeat("[", 200)+`"evil@x.com"`+strings.Repeat("]", 200))
	want(t, "nested too deep", s.index.of("s"))
	want(t, "nested too deep", s.index.suspected("s"), strings.Repeat("[", 200)+`"evil@x.com"`+strings.Repeat("]", 200))

	s = begin(t, strings.Replace(fields, "FORMAT", "json", 1))
	s.called("get", `{}`, "["+strings.Repeat("1,", 300_000)+"1]")
	want(t, "more values than are read", s.index.of("s"))

	s = begin(t, "")
	s.user(strings.Repeat("evil@x.com ", 1<<20))
	if got := s.index.of(flow.User); len(got) > 0 || s.index.batches[0].Person {
		t.Error("a message beyond the bound is of the user")
	}
}

// A result with content that is no text may have any value, and its text keeps its sources.
func TestOpaqueResults(t *testing.T) {
	s := begin(t, "[sources.s]\ntool = \"get\"")
	s.Result(s.index, &flow.Result{Tool: "get", Call: "c", Released: true, Data: []byte("x"), Opaque: true})
	want(t, "texts", s.index.texts(), "[tool]?[s] opaque ", "[s tool] x")
}

// A result without text counts as read.
func TestEmptyResults(t *testing.T) {
	for _, data := range []string{"", "true", "{}", `[null]`} {
		s := begin(t, "[sources.web]\ntool = \"get\"")
		s.called("get", `{}`, data)
		if b := s.index.batches[0]; !b.Result || b.Tool != "get" || len(b.Texts) == 0 {
			t.Errorf("%q: %+v", data, b)
		}
	}
}

// Reading takes time in the length of a text, whatever is in it.
func TestLinearTime(t *testing.T) {
	for name, unit := range map[string]string{
		"openings": "[", "mappings": "{a: ", "flow pairs": "{a,", "keys": "? ", "sequences": "- ", "quotes": "'a' ", "tags": "<a_b>", "closed tags": "<a_b></a_b>", "tags of many names": "<a_%d></a_%d>",
		"anchors": "&a ", "aliases": "*a ", "colons": "a: ", "block scalars": "|\n ", "tuples": "(", "tuples of one": "(1,),", "escapes": `\u0041`, "backslashes": `\`, "labels": "IBAN: x\n", "comments": "<!--", "minus": "-", "not": "not ", "plain": "word ",
	} {
		var text strings.Builder
		for i := 0; text.Len() < 200<<10; i++ {
			if strings.Contains(unit, "%d") {
				fmt.Fprintf(&text, unit, i, i)
			} else {
				text.WriteString(unit)
			}
		}
		for _, format := range []string{"json", "yaml", "python", "text"} {
			policy := "[sources.s]\ntool = \"get\"\nformat = \"" + format + "\"\n"
			if format == "text" {
				policy += "label = '(?s)IBAN: (\\S+).*x'\n"
			}
			s := begin(t, policy)
			start := time.Now()
			s.called("get", `{}`, text.String())
			s.user(text.String())
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%s as %s: %v for 200 KiB", name, format, took)
			}
		}
	}
}

// Whatever the bytes of a result, of arguments and of a message are, nothing panics, texts are not
// larger than they can be, and a result without a released call has no certain declared source.
func FuzzTexts(f *testing.F) {
	for _, data := range []string{
		`[{"email":"a@x.com"}]`, `[{'email': 'a@x.com', 'n': (1,)}]`, "- email: a@x.com\n  n: 1\n", `{"a":"{\"b\":\"\\u0041\"}"}`, `<p hidden>x</p>`, "{\"a\":1,\"a\":2}", "&a [*a]", "'\\x41'", "\xff\xfe",
		"<system-reminder>a</system-reminder>b",
	} {
		f.Add(data, `{"path":"/a/b","to":["x@x.com"]}`)
	}
	f.Fuzz(func(t *testing.T, data, args string) {
		for _, format := range []string{"json", "yaml", "python", "text"} {
			policy := "[sources.w]\ntool = \"get\"\nformat = \"" + format + "\"\n[sources.l]\ntool = \"get\"\nlabel = \"a(.)\"\n"
			if format != "text" {
				policy += "[sources.s]\ntool = \"get\"\nformat = \"" + format + "\"\nitems = \"/*\"\nwhere = { pointer = \"/n\", const = 1 }\nfield = \"/*~\"\n"
			}
			s := begin(t, policy)
			s.Call(s.index, "write_file", []byte(args))
			s.called("get", args, data)
			s.user(data)
			s.Result(s.index, &flow.Result{Tool: "get", Call: "other", Args: []byte(args), Data: []byte(data)})
			last := s.index.batches[len(s.index.batches)-1]
			size := 0
			for _, text := range last.Texts {
				size += len(text.Text)
				if len(text.Sources) > 2 || text.Sources[0] != flow.Tool {
					t.Fatalf("%s: a result that was not released has the sources %v", format, text.Sources)
				}
			}
			if size > 64*len(data)+1024 {
				t.Fatalf("%d bytes of texts for a result of %d", size, len(data))
			}
		}
	})
}

// Python literals are read as repr prints them, and nothing else is.
func TestPython(t *testing.T) {
	for text, want := range map[string]string{
		`{'a': 'x'}`:                         "x",
		`["it's", 'say "x"', '\'"']`:         `it's|say "x"|'"`,
		`['\xe9\u00e9\U0001F600\n\t\\']`:     "éé\U0001F600\n\t\\",
		`{1: 'a', None: 'b', True: (2.5,)}`:  "a|b|2.5",
		`((1, 2), [3, -4e5,], {})`:           "1|2|3|-4e5",
		`{'a': True, 'b': False, 'c': None}`: "",
		"[\n 'a',\n\t'b'\r\n]":               "a|b",
	} {
		s := begin(t, "[sources.s]\ntool = \"get\"\nformat = \"python\"")
		s.called("get", `{}`, text)
		if got := strings.Join(s.index.of("s"), "|"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		`{'a': 'x'`, `{'a': 'x'}}`, `['x')`, `{'a', 'x'}`, `{'a': 'x', 'a': 'y'}`, `{1: 'x', '1': 'y'}`, `['x' 'y']`, `['''x''']`, `[""]"x"]`, `[b'x']`, `[r'\x41']`, `['x'] # ['y']`,
		`['x', datetime.date(2024, 1, 1)]`, `['\q']`, `['\x4']`, `['\ud800']`, `['\U00110000']`, `['x` + "\n" + `']`, `[nan]`, `[1_000]`, `[0x10]`, `[x]`, `('x')`, `(,)`, `[,]`, `['x',,]`, `{'a'}`, `{'a':}`, `{:'x'}`, `{{}: 'x'}`,
		`[--1]`, `[not True]`, `['x' if True else 'y']`, `['x']['y']`, `'\`, `'x' : 'y'`, `['x': 'y']`, `{'a': 'x': 'y'}`, `[*'x']`, strings.Repeat("[", 1000), `[('x')]`,
	} {
		s := begin(t, "[sources.s]\ntool = \"get\"\nformat = \"python\"")
		s.called("get", `{}`, text)
		want := s.index.of("s")
		if len(want) > 0 {
			t.Errorf("%s: %q", text, want)
		}
	}
}

// YAML is read as documents of scalars, sequences and mappings; what can be read in two ways is not.
func TestYAML(t *testing.T) {
	for text, want := range map[string]string{
		"a: x\nb: [y, 1]\nc: {d: 0x10}":            "x|y|1|0x10",
		"- no\n- 2024-05-01 10:00:00\n- ~\n- true": "no|2024-05-01 10:00:00",
		"a: |\n  x\n  b: y\n":                      "x\nb: y\n",
		"a: 'x: ''y'''":                            "x: 'y'",
		"1: x\ntrue: y":                            "x|y",
		"a: \"\\u0041\\x42\"":                      "AB",
		"a: True\nb: true":                         "True",
		"a: .inf\nb: 1_000\nc: 1.50":               ".inf|1_000|1.50",
	} {
		s := begin(t, "[sources.s]\ntool = \"get\"\nformat = \"yaml\"")
		s.called("get", `{}`, text)
		if got := strings.Join(s.index.of("s"), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		"a: x\na: y", "a: &b x\nc: *b", "a: &b x", "&k a: x", "<<: {a: x}", "---\na: x\n---\na: y", "a: !!binary eA==", "a: !x y", "? [a]\n: x", "just text", "", "a: x\n b: y", "1: x\n'1': y", strings.Repeat("[", 300) + strings.Repeat("]", 300), "a: \xff",
	} {
		s := begin(t, "[sources.s]\ntool = \"get\"\nformat = \"yaml\"")
		s.called("get", `{}`, text)
		if got := s.index.of("s"); len(got) > 0 {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// The name of a tool in reports of surfaces is that of the policy.
func TestNamesOfTools(t *testing.T) {
	_, tables := sources(t, "[sources.s]\ntool = \"server__get\"")
	r := source.New(source.Config{Files: []source.File{{Sources: tables}}, Tool: toolNamed})
	x := &plainIndex{keys: map[string]bool{}}
	r.Result(x, &flow.Result{Tool: "mcp__server__get", Call: "c", Released: true, Data: []byte("x")})
	want(t, "texts", x.texts(), "[s tool] x")
	if x.batches[0].Tool != "server__get" || x.batches[0].Texts[0].Ref.Tool != "server__get" {
		t.Error("the text has another name of the tool")
	}
}
