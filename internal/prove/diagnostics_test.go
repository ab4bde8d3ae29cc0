package prove_test

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/testkit/golden"
	"github.com/stopgate/stopgate/jsonstream"
)

var update = flag.Bool("update", false, "write what the golden files expect")

// definitions reads a list of tools: name and JSON Schema.
func definitions(t *testing.T, text string) []stopgate.ToolDefinition {
	t.Helper()
	if text == "" {
		return nil
	}
	var list []struct {
		Name   stopgate.ToolName `json:"name"`
		Schema json.RawMessage   `json:"schema"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	var tools []stopgate.ToolDefinition
	for _, d := range list {
		tools = append(tools, stopgate.ToolDefinition{Name: d.Name, Schema: d.Schema})
	}
	return tools
}

// check parses and checks a text and returns all findings in order.
func findings(name string, text []byte, o policy.Options) diag.List {
	p, list := parser.Parse(kinds.Table(), name, text)
	if p != nil {
		list = append(list, prove.Check(p, o)...)
	}
	list.Sort()
	return list
}

// TestDiagnostics compares the diagnostics of broken policies with the golden files of
// testdata/check, which name the requirements that they prove.
//
// Proves D25-03, D25-07, D25-11, D25-15, D25-28, D25-29, D25-30, D25-31, D25-32,
// D25-33, D25-34, D25-35, D25-36, D25-37, D25-38, D25-39, D25-43, D25-47, K0a,
// K0b, K0i, K1, K18, K20, K22, K24, K25, K26, K27, K28, K32, K36, K54, K57, S3,
// S39, S72, B3, B7, C17, D1, D2, D3, D6, D8, Q3, Q5, Q16.
func TestDiagnostics(t *testing.T) {
	names, err := filepath.Glob("testdata/check/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text := []byte(golden.Part(archive, "policy.toml"))
			o := policy.Options{
				Root: "/srv/proj", Home: "/home/dev",
				Definitions: definitions(t, golden.Part(archive, "tools.json")),
				Strict:      strings.Contains(golden.Part(archive, "options"), "strict"),
				Untrusted:   strings.Contains(golden.Part(archive, "options"), "untrusted"),
				Bundled:     strings.Contains(golden.Part(archive, "options"), "bundled"),
			}
			got := diag.Text(findings("policy.toml", text, o), func(string) []byte { return text })
			if *update {
				golden.Write(t, name, archive, "diagnostics", got)
			}
			if diff := cmp.Diff(golden.Part(archive, "diagnostics"), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every code of the catalogue is produced by one of the golden files.
func TestEveryCodeIsProduced(t *testing.T) {
	names, err := filepath.Glob("testdata/check/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(golden.Part(archive, "diagnostics"))
	}
	for _, e := range diag.Catalogue() {
		if strings.HasPrefix(string(e.Code), "SG06") {
			continue // of comparisons, see the script diff of cmd/stopgate
		}
		if !strings.Contains(all.String(), " "+string(e.Code)+": ") {
			t.Errorf("%s %s is never produced", e.Code, e.Name)
		}
	}
}

// A policy that was built and not parsed is checked too; its diagnostics have no position.
func TestCheckWithoutSource(t *testing.T) {
	text := func(s string) condition.Literal {
		return condition.Literal{Kind: condition.LiteralString, Text: s, JSON: `"` + s + `"`}
	}
	p := &syntax.File{Name: "built", Tools: []*syntax.ToolTable{{
		Name: "t",
		Run: &syntax.RuleList{Rules: []*syntax.Rule{
			{Index: 0, Mode: stopgate.Ask, Conditions: []syntax.Condition{{
				Arg: jsonstream.Pointer{"pth"}, Spec: kinds.Table().Spec(condition.Prefix, text(".env")),
			}}},
			{Index: 1, Mode: stopgate.Ask},
		}},
	}}}
	o := policy.Options{Untrusted: true, Definitions: []stopgate.ToolDefinition{{
		Name: "t", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string","x-stopgate-type":"path"}}}`),
	}}}
	var got []string
	for _, d := range prove.Check(p, o) {
		got = append(got, d.String())
	}
	if diff := cmp.Diff([]string{"built: error SG0201: rule 1, `/pth` of `t`: no parameter is named \"pth\" here"}, got); diff != "" {
		t.Error(diff)
	}
	p.Tools[0].Run.Rules[0].Conditions[0].Arg = jsonstream.Pointer{"path"}
	if list := prove.Check(p, o); list.HasErrors() || len(list) != 1 || list[0].Code != diag.LiteralDotFile {
		t.Errorf("%v", list)
	}
}
