package tomltree_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// sketch writes a tree with the position of each key and value.
func sketch(b *strings.Builder, indent string, v *tomltree.Value) {
	at := fmt.Sprintf("%d:%d-%d:%d", v.Range.Start.Line, v.Range.Start.Column, v.Range.End.Line, v.Range.End.Column)
	switch v.Kind {
	case tomltree.Table, tomltree.Array:
		fmt.Fprintf(b, "%s @%s", v.Kind, at)
	default:
		fmt.Fprintf(b, "%s %q @%s", v.Kind, v.Text, at)
	}
	for _, c := range v.Comments {
		b.WriteString(" before:" + c)
	}
	if v.Trailing != "" {
		b.WriteString(" behind:" + v.Trailing)
	}
	for _, c := range v.Inner {
		b.WriteString(" inner:" + c)
	}
	b.WriteByte('\n')
	for _, e := range v.Entries {
		fmt.Fprintf(b, "%s%s @%d:%d = ", indent, e.Key, e.KeyRange.Start.Line, e.KeyRange.Start.Column)
		sketch(b, indent+"  ", e.Value)
	}
	for _, e := range v.Elements {
		b.WriteString(indent + "- ")
		sketch(b, indent+"  ", e)
	}
}

func tree(t *testing.T, text string) string {
	t.Helper()
	doc, diags := tomltree.Parse("x.toml", []byte(text))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	var b strings.Builder
	sketch(&b, "", doc.Root)
	return b.String()
}

func TestPositions(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"scalars", "a = 1_000\nbé = \"x\"", ""}, // é is not a bare key
		{"values", "a = 1_000\n\"bé\" = 'x'\nc=true\nd = 1e400\ne = 1979-05-27",
			"a table @0:0-0:0\n" +
				"a @1:1 = an integer \"1_000\" @1:5-1:10\n" +
				"bé @2:1 = a string \"x\" @2:8-2:11\n" +
				"c @3:1 = true or false \"true\" @3:3-3:7\n" +
				"d @4:1 = a number \"1e400\" @4:5-4:10\n" +
				"e @5:1 = a date or time \"1979-05-27\" @5:5-5:15\n"},
		{"containers", "a = [ 1, {b = [], c.d = 2}, ]",
			"a table @0:0-0:0\n" +
				"a @1:1 = an array @1:5-1:30\n" +
				"  - an integer \"1\" @1:7-1:8\n" +
				"  - a table @1:10-1:27\n" +
				"    b @1:11 = an array @1:15-1:17\n" +
				"    c @1:19 = a table @1:19-1:26\n" +
				"      d @1:21 = an integer \"2\" @1:25-1:26\n"},
		{"headers", "[a.b]\nx = 1\n[a]\n[[c]]\n[[c]]\n[c.d]\ny = 2",
			"a table @0:0-0:0\n" +
				"a @3:2 = a table @3:2-3:3\n" +
				"  b @1:4 = a table @1:2-1:5\n" +
				"    x @2:1 = an integer \"1\" @2:5-2:6\n" +
				"c @4:3 = an array @4:3-4:4\n" +
				"  - a table @4:3-4:4\n" +
				"  - a table @5:3-5:4\n" +
				"    d @6:4 = a table @6:2-6:5\n" +
				"      y @7:1 = an integer \"2\" @7:5-7:6\n"},
		{"many lines", "a = [\n  { b = 1 }, # one\n  # two\n  { c = 2 },\n  # end\n] # behind\n# last",
			"a table @0:0-0:0\n" +
				"a @1:1 = an array @1:5-6:2 inner:# end\n" +
				"  - a table @2:3-2:12 behind:# one\n" +
				"    b @2:5 = an integer \"1\" @2:9-2:10\n" +
				"  - a table @4:3-4:12 before:# two\n" +
				"    c @4:5 = an integer \"2\" @4:9-4:10\n"},
		{"comments", "# head\n\n# more\nv = 1 # behind\n# table\n[t] # header\n# in\nk = 2",
			"a table @0:0-0:0\n" +
				"v @4:1 = an integer \"1\" @4:5-4:6\n" +
				"t @6:2 = a table @6:2-6:3\n" +
				"  k @8:1 = an integer \"2\" @8:5-8:6\n"},
		{"windows line ends", "a = 1\r\n[b]\r\nc = [\r\n 2,\r\n]\r\n",
			"a table @0:0-0:0\n" +
				"a @1:1 = an integer \"1\" @1:5-1:6\n" +
				"b @2:2 = a table @2:2-2:3\n" +
				"  c @3:1 = an array @3:5-5:2\n" +
				"    - an integer \"2\" @4:2-4:3\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.want == "" {
				if doc, diags := tomltree.Parse("x.toml", []byte(test.text)); doc != nil || !diags.HasErrors() {
					t.Fatalf("accepted: %v", diags)
				}
				return
			}
			if diff := cmp.Diff(test.want, tree(t, test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The caret of a mistake in a string is below the wrong character, whatever escapes precede it.
func TestOffsetRange(t *testing.T) {
	for _, test := range []struct {
		text   string
		offset int
		want   string // the source of the code point
	}{
		{`"abc"`, 1, "b"},
		{`'a\c'`, 1, `\`},
		{`"a\\c"`, 1, `\\`},
		{`"a\tbc"`, 2, "b"},
		{`"é\u00e9x"`, 2, `\u00e9`},
		{`"é\u00e9x"`, 4, "x"},
		{`"\U0001F600x"`, 3, `\U0001F600`},
		{`"\U0001F600x"`, 4, "x"},
		{`"\x41b"`, 1, "b"},
		{"\"\"\"\nab\"\"\"", 1, "b"},
		{"\"\"\"\r\nab\"\"\"", 0, "a"},
		{"\"\"\"a\\\n   b\"\"\"", 1, "b"},
		{"'''\na'b'''", 2, "b"},
		{`"ab"`, 2, `"`},
		{`""`, 0, `"`},
	} {
		source := "k = " + test.text
		doc, diags := tomltree.Parse("x.toml", []byte(source))
		if len(diags) > 0 {
			t.Fatal(test.text, diags)
		}
		r := doc.Root.Get("k").Value.OffsetRange(test.offset)
		if got := source[r.Start.Offset:r.End.Offset]; got != test.want {
			t.Errorf("%s: byte %d is written %q, want %q", test.text, test.offset, got, test.want)
		}
	}
}

// Proves K27: Parse reports the first syntax error only, or every repeated key, each with the
// position of the first.
func TestMistakes(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"syntax", "a = 1\nb = \nc = 3", "2:5 SG0101 unexpected character U+000A at start of value"},
		{"end", "a = \"x", "1:6 SG0101 unterminated basic string"},
		{"star", "[conversation.tools.*.policy]\nrun = \"ask\"",
			"1:21 SG0101 invalid character at start of key: U+002A '*' (TOML wants quotes: `[conversation.tools.\"*\".policy]`)"},
		{"colon", "a: 1", "1:2 SG0101 expected '=' after key (TOML writes `key = value`)"},
		{"escape", "a = \"^git\\s\"", "1:10 SG0101 invalid escape character U+0073 's' (in single quotes a backslash is a backslash: `pattern = '^git\\s+push'`)"},
		{"curly quotes", "a = \u201cask\u201d", "1:5 SG0101 unexpected character U+00E2 'â' at start of value (write straight quotes: `\"ask\"`)"},
		{"UTF-16", "\xff\xfea\x00", "1:1 SG0101 invalid character at start of key: U+00FF 'ÿ' (this is UTF-16: save the file as UTF-8)"},
		{"byte order mark", "\uFEFFa = 1", "1:1 SG0101 invalid character at start of key: U+00EF 'ï' (this is a byte order mark: save the file as UTF-8 without one)"},
		{"not UTF-8", "a = \"\xff\"", "1:6 SG0101 invalid UTF-8 character in basic string"},
		{"twice", "a = 1\n[t]\nx = 1\nx = 2\n[t]\n", "4:1 SG0102 `x` is already written (3:1)\n5:2 SG0102 `t` is already written (2:2)"},
		{"inline", "t = {a = 1, a = 2}", "1:13 SG0102 `a` is already written (1:6)"},
		{"closed", "t = {a = 1}\n[t.b]", "2:2 SG0102 `t` is complete where it stands and cannot get more members here (1:1)"},
		{"value", "t = 1\n[t.b]", "2:2 SG0102 `t` is a value that cannot get members here (1:1)"},
		{"dots", "[t]\nx = 1\n[u]\nt.x = 1\nt.x.y = 2", "5:3 SG0102 `x` is a value that cannot get members here (4:3)"},
		{"dots into a header", "[a.b]\nx = 1\n[a]\nb.y = 2", "4:1 SG0102 `b` is complete where it stands and cannot get more members here (1:4)"},
		{"header over dots", "a.b = 1\n[a]", "2:2 SG0102 `a` is already written (1:1)"},
		{"array over table", "[a]\n[[a]]", "2:3 SG0102 `a` is already written (1:2)"},
		{"table over array", "[[a]]\n[a]", "2:2 SG0102 `a` is already written (1:3)"},
		{"depth", "a = " + strings.Repeat("[", 70) + strings.Repeat("]", 70), "1:68 SG0120 tables and arrays are nested more than 64 levels deep"},
		{"dotted depth", strings.Repeat("a.", 70) + "a = 1", "1:141 SG0120 tables and arrays are nested more than 64 levels deep"},
		{"header depth", "[" + strings.Repeat("a.", 70) + "a]", "1:2 SG0120 tables and arrays are nested more than 64 levels deep"},
		{"size", strings.Repeat("# comment\n", 1<<21), "0:0 SG0120 the file has more than 16 MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, diags := tomltree.Parse("x.toml", []byte(test.text))
			var lines []string
			for _, d := range diags {
				line := fmt.Sprintf("%d:%d %s %s", d.Start.Line, d.Start.Column, d.Code, d.Message)
				if d.Code == diag.Syntax && d.Hint != "" {
					line += " (" + d.Hint + ")"
				}
				for _, r := range d.Related {
					line += fmt.Sprintf(" (%d:%d)", r.Start.Line, r.Start.Column)
				}
				lines = append(lines, line)
			}
			if diff := cmp.Diff(test.want, strings.Join(lines, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// plain converts a tree into the form of go-toml's map[string]any; ok is false if go-toml's own
// types cannot represent a value.
func plain(v *tomltree.Value) (value any, ok bool) {
	switch v.Kind {
	case tomltree.Table:
		m := map[string]any{}
		for _, e := range v.Entries {
			of, fits := plain(e.Value)
			if !fits {
				return nil, false
			}
			m[e.Key] = of
		}
		return m, true
	case tomltree.Array:
		list := []any{}
		for _, e := range v.Elements {
			of, fits := plain(e)
			if !fits {
				return nil, false
			}
			list = append(list, of)
		}
		return list, true
	case tomltree.String:
		return v.Text, true
	case tomltree.Bool:
		return v.Text == "true", true
	case tomltree.Integer:
		n, err := strconv.ParseInt(v.Text, 0, 64)
		return n, err == nil
	case tomltree.Float:
		f, err := strconv.ParseFloat(strings.ReplaceAll(v.Text, "_", ""), 64)
		return f, err == nil && !math.IsNaN(f)
	}
	return nil, false
}

// FuzzParse compares the tree with go-toml's own decoder: both accept the same files with the same
// values, and every value is at its position.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a = 1\n[b]\nc = [1, {d = 'x'}]\n[[e]]\n[[e]]\nf.g = \"\\u00e9\"",
		"a.b = 1\na.c = 2\n[a.d]\n", "[a.b]\n[a]\n[a.c]\n", "x = '''\n'a'''\ny = \"\"\"\\\n  b\"\"\"",
		"[a]\nb.c = 1\n[a.b.d]\n", "[[a]]\n[a.b]\n[[a]]\n[a.b]\n", "# c\r\na = [ # x\r\n1, # y\r\n]\r\n",
		"t = {a.b = 1, a.c = {}, }\n", "d = 1979-05-27T07:32:00Z\ne = 0x1F\nf = inf\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, diags := tomltree.Parse("x.toml", text)
		for _, d := range diags {
			if d.Code == diag.TooLarge {
				return
			}
		}
		oracle := map[string]any{}
		err := toml.Unmarshal(text, &oracle)
		if doc == nil || diags.HasErrors() {
			if err == nil {
				t.Fatalf("refused what go-toml accepts: %v", diags)
			}
			return
		}
		got, ok := plain(doc.Root)
		if err != nil {
			// The decoder rejects values that the tree keeps as text, and a key that it reads as
			// part of such a value.
			if ok && !strings.Contains(err.Error(), "out of range") && !strings.Contains(err.Error(), "time") {
				t.Fatalf("accepted what go-toml refuses: %v", err)
			}
			return
		}
		if ok {
			if diff := cmp.Diff(any(oracle), got); diff != "" {
				t.Fatal(diff)
			}
		}
		positions(t, text, doc.Root)
	})
}

// positions parses every value again from its range in the text.
func positions(t *testing.T, text []byte, v *tomltree.Value) {
	for _, e := range v.Entries {
		if key := text[e.KeyRange.Start.Offset:e.KeyRange.End.Offset]; len(key) == 0 {
			t.Fatalf("key %q has no place", e.Key)
		}
		positions(t, text, e.Value)
	}
	for _, e := range v.Elements {
		positions(t, text, e)
	}
	if v.Kind == tomltree.Table && !v.Inline || v.Headers {
		return
	}
	second := append([]byte("v = "), text[v.Range.Start.Offset:v.Range.End.Offset]...)
	doc, diags := tomltree.Parse("x.toml", second)
	if doc == nil {
		t.Fatalf("%q is no value: %v", second, diags)
	}
	want, _ := plain(v)
	if got, _ := plain(doc.Root.Get("v").Value); !cmp.Equal(want, got) {
		t.Fatalf("%q is not the value %v", second, want)
	}
}

type settings struct {
	Listen   string            `toml:"listen,required"`
	Port     uint16            `toml:"port"`
	Depth    int               `toml:"depth"`
	Ratio    float64           `toml:"ratio"`
	Strict   bool              `toml:"strict"`
	Wait     time.Duration     `toml:"wait"`
	Tools    []string          `toml:"tools"`
	Limits   *limits           `toml:"limits"`
	Upstream map[string]limits `toml:"upstream"`
	Level    level             `toml:"level"`
	Raw      *tomltree.Value   `toml:"raw"`
	common
	Ignored string
}

type common struct {
	Name string `toml:"name"`
}

type limits struct {
	Bytes int64 `toml:"bytes"`
}

type level int

func (l *level) UnmarshalText(text []byte) error {
	if string(text) != "high" {
		return fmt.Errorf("unknown level %q", text)
	}
	*l = 7
	return nil
}

func TestDecode(t *testing.T) {
	doc, diags := tomltree.Parse("x.toml", []byte(`
listen = "127.0.0.1:0"
port = 0x1F
depth = -1_000
ratio = 2
strict = true
wait = "1m30s"
tools = ["a", "b"]
level = "high"
name = "n"
raw = [1]
[limits]
bytes = 5
[upstream.one]
bytes = 6
`))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	got := settings{Ignored: "kept"}
	if diags := tomltree.Decode(doc.Root, &got); len(diags) > 0 {
		t.Fatal(diags)
	}
	if got.Raw == nil || len(got.Raw.Elements) != 1 {
		t.Error("raw is not the subtree")
	}
	got.Raw = nil
	want := settings{
		Listen: "127.0.0.1:0", Port: 31, Depth: -1000, Ratio: 2, Strict: true, Wait: 90 * time.Second,
		Tools: []string{"a", "b"}, Limits: &limits{5}, Upstream: map[string]limits{"one": {6}}, Level: 7,
		common: common{Name: "n"}, Ignored: "kept",
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{}, common{})); diff != "" {
		t.Error(diff)
	}
	if diags := tomltree.Decode(nil, &got); len(diags) > 0 {
		t.Error("a table that is absent is no mistake:", diags)
	}
}

func TestDecodeMistakes(t *testing.T) {
	doc, diags := tomltree.Parse("x.toml", []byte(`
prot = 1
port = 70000
depth = "1"
ratio = inf
strict = 1
wait = 3
tools = [1, "x"]
level = "low"
name = 5
limits = { byts = 1 }
upstream = 3
`))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	var s settings
	list := tomltree.Decode(doc.Root, &s)
	list.Sort()
	var got []string
	for _, d := range list {
		got = append(got, fmt.Sprintf("%d:%d %s %s; %s", d.Start.Line, d.Start.Column, d.Code, d.Message, d.Hint))
	}
	want := []string{
		"0:0 SG0105 `listen` is missing; ",
		"2:1 SG0103 unknown key `prot`; did you mean `port`?",
		"3:8 SG0106 `port` is out of range; ",
		"4:9 SG0104 `depth` must be an integer, not a string; ",
		"5:9 SG0106 `ratio` is out of range; ",
		"6:10 SG0104 `strict` must be true or false, not an integer; ",
		"7:8 SG0104 `wait` must be a duration such as \"30s\", not an integer; ",
		"8:10 SG0104 `tools[0]` must be a string, not an integer; ",
		"9:9 SG0106 `level`: unknown level \"low\"; ",
		"10:8 SG0104 `name` must be a string, not an integer; ",
		"11:12 SG0103 unknown key `byts`; did you mean `bytes`?",
		"12:12 SG0104 `upstream` must be a table, not an integer; ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"tools = 1", "limits = 1", "wait = '-1s'", "level = 1", "ratio = 'x'", "depth = 99999999999999999999"} {
		doc, _ := tomltree.Parse("x.toml", []byte("listen = ''\n"+text))
		if list := tomltree.Decode(doc.Root, &s); len(list) != 1 || !list.HasErrors() {
			t.Errorf("%s: %v", text, list)
		}
	}
}
