package diag_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/lang/diag"
)

func at(text, mark string) diag.Range {
	i := strings.Index(text, mark)
	return diag.NewLines([]byte(text)).Range(i, i+len(mark))
}

func TestPosition(t *testing.T) {
	const text = "a\nbé日\r\n\nend"
	lines := diag.NewLines([]byte(text))
	for _, test := range []struct {
		mark string
		want diag.Range
	}{
		{"a", diag.Range{Start: diag.Position{0, 1, 1}, End: diag.Position{1, 1, 2}}},
		{"日", diag.Range{Start: diag.Position{5, 2, 3}, End: diag.Position{8, 2, 4}}},
		{"end", diag.Range{Start: diag.Position{11, 4, 1}, End: diag.Position{14, 4, 4}}},
		{"é日\r\n\nen", diag.Range{Start: diag.Position{3, 2, 2}, End: diag.Position{13, 4, 3}}},
	} {
		if got := at(text, test.mark); got != test.want {
			t.Errorf("%q is at %v, want %v", test.mark, got, test.want)
		}
	}
	if got := lines.Range(99, 5); got.Start.Offset != len(text) || got.End != got.Start {
		t.Errorf("behind the end: %v", got)
	}
	if got := lines.Position(-1); got.Offset != 0 || got.Line != 1 {
		t.Errorf("before the start: %v", got)
	}
	a, b := at(text, "a"), at(text, "end")
	if got := a.To(b); got.Start != a.Start || got.End != b.End {
		t.Errorf("from a to b: %v", got)
	}
}

// Proves H14: source lines are shown without characters that control the terminal.
func TestText(t *testing.T) {
	long := "key = \"" + strings.Repeat("x", 200) + "MARK" + strings.Repeat("y", 200) + "\""
	for _, test := range []struct{ name, text, mark, want string }{
		{"plain", "version = 1\nrun = \"aks\"\n", `"aks"`, `
f.toml:2:7: error SG0106: no
 2 | run = "aks"
   |       ^^^^^
`},
		{"tab", "\ta\t= bad", "bad", `
f.toml:1:6: error SG0106: no
 1 |     a    = bad
   |            ^^^
`},
		{"wide", "名前 = 日本x", "本x", `
f.toml:1:7: error SG0106: no
 1 | 名前 = 日本x
   |          ^^^
`},
		{"combining", "\u0e19\u0e49 = bad", "bad", "\nf.toml:1:6: error SG0106: no\n 1 | \u0e19\u0e49 = bad\n   |     ^^^\n"},
		{"mark of any script", "e\u0301 = bad", "bad", "\nf.toml:1:6: error SG0106: no\n 1 | e<U+0301> = bad\n   |             ^^^\n"},
		{"controls", "a\x1b[2J\u202e\u200b\xff = bad", "bad", `
f.toml:1:12: error SG0106: no
 1 | a<U+001B>[2J<U+202E><U+200B><FF> = bad
   |                                    ^^^
`},
		{"end of line", "a =\nb", "", `
f.toml:1:1: error SG0106: no
 1 | a =
   | ^
`},
		{"several lines", "a = [\n1,\n]", "[\n1,\n]", `
f.toml:1:5: error SG0106: no
 1 | a = [
   |     ^
`},
		{"long", long, "MARK", `
f.toml:1:208: error SG0106: no
 1 | ...` + strings.Repeat("x", 36) + "MARK" + strings.Repeat("y", 70) + `...
   |    ` + strings.Repeat(" ", 36) + `^^^^
`},
		{"windows", "a = bad\r\nb", "bad", `
f.toml:1:5: error SG0106: no
 1 | a = bad
   |     ^^^
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var list diag.List
			list.Add(diag.Diagnostic{Code: diag.BadValue, File: "f.toml", Range: at(test.text, test.mark), Message: "no"})
			got := diag.Text(list, func(string) []byte { return []byte(test.text) })
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), got); diff != "" {
				t.Errorf("%s\n%s", diff, got)
			}
		})
	}
}

// A file may be a single line of several megabytes with a mistake in every part.
func TestOneLongLine(t *testing.T) {
	const parts, part = 100_000, "k = 日本語, "
	text := []byte(strings.Repeat(part, parts))
	lines := diag.NewLines(text)
	var list diag.List
	for i := range parts {
		at := i * len(part)
		r := lines.Range(at, at+1)
		if want := i*len([]rune(part)) + 1; r.Start.Column != want {
			t.Fatalf("part %d is in column %d, want %d", i, r.Start.Column, want)
		}
		list.Add(diag.Diagnostic{Code: diag.BadValue, File: "f", Range: r})
	}
	got := diag.Text(list[parts/2:parts/2+2], func(string) []byte { return text })
	want := strings.Repeat(part, 1)
	if !strings.Contains(got, want) || len(got) > 2000 {
		t.Errorf("%s", got)
	}
}

func TestTextOfParts(t *testing.T) {
	const text = "one\ntwo\n\n\n\n\n\n\n\n\nten\n"
	list := diag.List{
		{Code: diag.NotProven, Severity: diag.Note, File: "a\x1b.toml", Message: "no place\u202e"},
		{
			Code: diag.Unreachable, File: "f.toml", Range: at(text, "two"), Message: "m", Hint: "first\nsecond",
			Related: []diag.Related{{Range: at(text, "ten"), Message: "here"}, {File: "gone.toml", Range: at(text, "one"), Message: "there"}},
		},
	}
	source := func(file string) []byte {
		if file == "f.toml" {
			return []byte(text)
		}
		return nil
	}
	const want = `a<U+001B>.toml: note SG0303: no place<U+202E>

f.toml:2:1: error SG0301: m
  2 | two
    | ^^^
    = first
    = second
f.toml:11:1: here
 11 | ten
    | ^^^
gone.toml:1:1: there
`
	if diff := cmp.Diff(want, diag.Text(list, source)); diff != "" {
		t.Error(diff)
	}
	if got := diag.Text(list[1:], nil); strings.Contains(got, "|") {
		t.Errorf("without sources no lines are shown:\n%s", got)
	}
	beyond := diag.List{{Code: diag.Syntax, File: "f.toml", Range: diag.Range{Start: diag.Position{Line: 99, Column: 1}}}}
	if got := diag.Text(beyond, source); strings.Contains(got, "|") {
		t.Errorf("a line that is not there is not shown:\n%s", got)
	}
}

func TestJSON(t *testing.T) {
	const text = "one\ntwo\n"
	list := diag.List{{
		Code: diag.Unreachable, File: "f.toml", Range: at(text, "two"), Message: "m", Hint: "h",
		Related: []diag.Related{{Range: at(text, "one"), Message: "here"}, {File: "g.toml", Message: "there"}},
	}}
	got, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "diagnostics": [
    {
      "code": "SG0301",
      "name": "unreachable",
      "severity": "error",
      "file": "f.toml",
      "line": 2,
      "column": 1,
      "end_line": 2,
      "end_column": 4,
      "message": "m",
      "hint": "h",
      "related": [
        {
          "file": "f.toml",
          "line": 1,
          "column": 1,
          "end_line": 1,
          "end_column": 4,
          "message": "here"
        },
        {
          "file": "g.toml",
          "line": 0,
          "column": 0,
          "end_line": 0,
          "end_column": 0,
          "message": "there"
        }
      ]
    }
  ]
}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if empty, _ := json.Marshal(diag.List(nil)); string(empty) != `{"diagnostics":[]}` {
		t.Errorf("nothing found is written %s", empty)
	}
}

// Proves K0i: strict mode rejects exactly the warnings that the catalogue marks as traps.
func TestListStrict(t *testing.T) {
	var list diag.List
	list.Add(diag.Diagnostic{Code: diag.Unanchored})
	list.Add(diag.Diagnostic{Code: diag.NoCatchAll})
	list.Add(diag.Diagnostic{Code: diag.NotProven})
	if list.HasErrors() || list.Err() != nil {
		t.Error("warnings are no errors")
	}
	list.Strict()
	var severities []string
	for _, d := range list {
		severities = append(severities, d.Severity.String())
	}
	if diff := cmp.Diff([]string{"error", "warning", "note"}, severities); diff != "" {
		t.Error(diff)
	}
	if len(list.Errors()) != 1 || list.Err().Error() != ": error SG0404: " {
		t.Errorf("one error: %v", list.Err())
	}
	list.Add(diag.Diagnostic{Code: diag.Syntax, Message: "x"})
	if got := list.Err().Error(); got != ": error SG0404:  (and 1 more)" {
		t.Errorf("two errors: %q", got)
	}
}

func TestListSort(t *testing.T) {
	position := func(offset int) diag.Range {
		return diag.Range{Start: diag.Position{Offset: offset, Line: 1}, End: diag.Position{Offset: offset + 1, Line: 1}}
	}
	list := diag.List{
		{File: "b", Code: "SG0102"}, {File: "a", Range: position(5), Code: "SG0102"}, {File: "a", Range: position(5), Code: "SG0101", Message: "y"},
		{File: "a", Range: position(5), Code: "SG0101", Message: "x"}, {File: "a", Range: position(1), Code: "SG0301"}, {File: "b", Code: "SG0102"},
	}
	list.Sort()
	var got []string
	for _, d := range list {
		got = append(got, fmt.Sprint(d.File, d.Start.Offset, d.Code, d.Message))
	}
	if diff := cmp.Diff([]string{"a1SG0301", "a5SG0101x", "a5SG0101y", "a5SG0102", "b0SG0102"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSuggest(t *testing.T) {
	words := []string{"unattended", "ask", "edit", "skip", "deny", "deny_mode"}
	for word, want := range map[string]string{
		"unatended": "unattended", "Deny": "deny", "deny-mode": "deny_mode", "aks": "ask", "allow": "", "": "", "sikp": "skip", "eddit": "edit",
		strings.Repeat("unattended", 7): "",
	} {
		if got := diag.Suggest(word, words); got != want {
			t.Errorf("%q suggests %q, want %q", word, got, want)
		}
	}
	if got := diag.DidYouMean("allow", []string{"ask", "deny"}); got != "possible: ask, deny" {
		t.Error(got)
	}
	if got := diag.DidYouMean("moed", []string{"mode"}); got != "did you mean `mode`?" {
		t.Error(got)
	}
	if got := diag.DidYouMean("x", nil); got != "" {
		t.Error(got)
	}
}

// Every constant of type Code has one row in the catalogue, in order, and only warnings are marked
// strict.
func TestCatalogue(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "catalogue.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var constants []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "Code" {
				constants = append(constants, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
			}
		}
		return true
	})
	var listed []string
	names := map[string]bool{}
	for _, e := range diag.Catalogue() {
		listed = append(listed, string(e.Code))
		if e.Name == "" || e.Meaning == "" || names[e.Name] {
			t.Errorf("%s has no name of its own or no meaning", e.Code)
		}
		if e.Strict && e.Severity != diag.Warning {
			t.Errorf("%s: only a warning can become an error", e.Code)
		}
		names[e.Name] = true
	}
	if diff := cmp.Diff(constants, listed); diff != "" {
		t.Error(diff)
	}
	if unknown := diag.Code("SG9999"); unknown.Severity() != diag.Error || unknown.Name() != "" || unknown.Strict() {
		t.Error("a code that is not listed is an error")
	}
}
