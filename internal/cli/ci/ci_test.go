package ci_test

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/stopgate/stopgate/internal/cli/ci"
	"github.com/stopgate/stopgate/internal/lang/diag"
)

func at(line, column, endLine, endColumn int) diag.Range {
	return diag.Range{Start: diag.Position{Line: line, Column: column}, End: diag.Position{Line: endLine, Column: endColumn}}
}

func findings() diag.List {
	var list diag.List
	list.Add(diag.Diagnostic{Code: diag.UnknownKey, File: "a b/stop:gate.toml", Range: at(3, 5, 3, 9), Message: "unknown key `moed`", Hint: "did you mean `mode`?"})
	list.Add(diag.Diagnostic{Code: diag.Unreachable, File: "/srv/x.toml", Range: at(7, 3, 9, 1), Message: "rule 2 can never match", Related: []diag.Related{
		{Range: at(6, 3, 6, 20), Message: "rule 1 is here"}, {File: "other.toml", Message: "and here"},
	}})
	list.Add(diag.Diagnostic{Code: diag.NoCatchAll, File: "a.toml", Message: "what no rule matches is asked"})
	list.Add(diag.Diagnostic{Code: diag.SchemaKeyword, File: "a.toml", Range: at(1, 1, 1, 1), Message: "50 % \u202e \x1b"})
	return list
}

// The log fulfils the standard, every rule index leads to the rule of that id, and locations are
// those of the findings.
func TestSARIF(t *testing.T) {
	var b strings.Builder
	if err := ci.SARIF(&b, findings(), ci.Tool{Version: "1.2.3", Home: "https://example.com/", Help: "https://example.com/codes"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/sarif-subset.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	rules, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var log any
	if err := json.Unmarshal([]byte(b.String()), &log); err != nil {
		t.Fatal(err)
	}
	if err := rules.Validate(log); err != nil {
		t.Errorf("%v\n%s", err, b.String())
	}
	run := log.(map[string]any)["runs"].([]any)[0].(map[string]any)
	all := run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any)
	if len(all) != len(diag.Catalogue()) {
		t.Errorf("%d rules", len(all))
	}
	results := run["results"].([]any)
	var locations []string
	for i, d := range findings() {
		r := results[i].(map[string]any)
		rule := all[int(r["ruleIndex"].(float64))].(map[string]any)
		if rule["id"] != string(d.Code) || r["ruleId"] != string(d.Code) || rule["helpUri"] != "https://example.com/codes#"+strings.ToLower(string(d.Code)) {
			t.Errorf("result %d has rule %v", i, rule)
		}
		p := r["locations"].([]any)[0].(map[string]any)["physicalLocation"].(map[string]any)
		uri := p["artifactLocation"].(map[string]any)["uri"].(string)
		if _, err := url.Parse(uri); err != nil {
			t.Error(err)
		}
		region, _ := json.Marshal(p["region"])
		locations = append(locations, r["level"].(string)+" "+uri+" "+string(region))
	}
	want := []string{
		`error a%20b/stop:gate.toml {"endColumn":9,"endLine":3,"startColumn":5,"startLine":3}`,
		`error file:///srv/x.toml {"endColumn":1,"endLine":9,"startColumn":3,"startLine":7}`,
		`warning a.toml null`,
		`note a.toml {"endColumn":1,"endLine":1,"startColumn":1,"startLine":1}`,
	}
	if diff := cmp.Diff(want, locations); diff != "" {
		t.Error(diff)
	}
	related := results[1].(map[string]any)["relatedLocations"].([]any)
	if uri := related[0].(map[string]any)["physicalLocation"].(map[string]any)["artifactLocation"].(map[string]any)["uri"]; uri != "file:///srv/x.toml" || len(related) != 2 {
		t.Errorf("related places: %v", related)
	}
	if message := results[0].(map[string]any)["message"].(map[string]any)["text"]; message != "unknown key `moed`\ndid you mean `mode`?" {
		t.Errorf("message %q", message)
	}
	b.Reset()
	if err := ci.SARIF(&b, nil, ci.Tool{}); err != nil || !strings.Contains(b.String(), `"results": []`) {
		t.Errorf("a clean run has no results, and is a run: %v\n%s", err, b.String())
	}
}

// No message or name can end its command or begin another one.
func TestGitHub(t *testing.T) {
	var b strings.Builder
	err := ci.GitHub(&b, []ci.Annotation{
		{Level: "error", File: "a,b:c%.toml", Line: 3, EndLine: 3, Column: 5, EndColumn: 9, Title: "SG0103", Message: "100 %\r\n::warning::no"},
		{Level: "warning", File: "a.toml", Line: 3, EndLine: 5, Column: 5, EndColumn: 2, Message: "several lines"},
		{Level: "notice", File: "a.toml", Message: "nowhere"},
	})
	const want = `::error file=a%2Cb%3Ac%25.toml,line=3,endLine=3,col=5,endColumn=8,title=SG0103::100 %25%0D%0A::warning::no
::warning file=a.toml,line=3,endLine=5::several lines
::notice file=a.toml::nowhere
`
	if diff := cmp.Diff(want, b.String()); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// Any XML parser reads the numbers and texts; characters that XML does not allow are replaced.
func TestJUnit(t *testing.T) {
	var b strings.Builder
	err := ci.JUnit(&b, []ci.Suite{
		{Name: "a & b", Cases: []ci.Case{
			{Name: "good", Class: "a"},
			{Name: `"<bad>"`, Class: "a", File: "a.toml", Line: 3, Failure: "expected \x1b, got \xff", Kind: "mismatch", Detail: "line 1\nline 2 ]]> \u202e"},
		}},
		{Name: "empty"},
	})
	if err != nil {
		t.Fatal(err)
	}
	type element struct {
		XMLName  xml.Name
		Attrs    []xml.Attr `xml:",any,attr"`
		Text     string     `xml:",chardata"`
		Children []element  `xml:",any"`
	}
	var root element
	if err := xml.Unmarshal([]byte(b.String()), &root); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	attrs := func(e element) string {
		var all []string
		for _, a := range e.Attrs {
			all = append(all, a.Name.Local+"="+a.Value)
		}
		return e.XMLName.Local + " " + strings.Join(all, " ")
	}
	bad := root.Children[0].Children[1]
	got := []string{attrs(root), attrs(root.Children[0]), attrs(root.Children[0].Children[0]), attrs(bad), attrs(bad.Children[0]), strings.TrimSpace(bad.Children[0].Text), attrs(root.Children[1])}
	want := []string{
		"testsuites tests=2 failures=1",
		"testsuite name=a & b tests=2 failures=1 errors=0 skipped=0",
		"testcase name=good classname=a",
		`testcase name="<bad>" classname=a file=a.toml line=3`,
		"failure message=expected \uFFFC, got \uFFFC type=mismatch",
		"line 1\nline 2 ]]> \u202e",
		"testsuite name=empty tests=0 failures=0 errors=0 skipped=0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestErrors(t *testing.T) {
	for name, err := range map[string]error{
		"sarif":  ci.SARIF(full{}, nil, ci.Tool{}),
		"github": ci.GitHub(full{}, []ci.Annotation{{}}),
		"junit":  ci.JUnit(full{}, nil),
	} {
		if err == nil {
			t.Errorf("%s: the error of the writer is lost", name)
		}
	}
}
