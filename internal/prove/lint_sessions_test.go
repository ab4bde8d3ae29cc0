package prove_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// Proves S24: check reports requirements for the success of a tool whose results do not tell it.
func TestSuccessUnknown(t *testing.T) {
	const rest = "version = 1\n[tools.deploy.policy]\nrun = \"ask\"\n[[session]]\ntype = \"require\"\nbefore = \"deploy\"\n"
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"no table", rest + "requires = [\"test\", \"lint\", \"test\"]\n", 2},
		{"one of two tools", rest + "requires = [\"test\", \"lint\"]\n[tools.test]\nsuccess = { exit_code = \"/exit_code\" }\n", 1},
		{"a table with a glob", rest + "requires = \"ci_test\"\n[tools.\"ci_*\"]\nsuccess = { pattern = \"^ok$\" }\n", 0},
		{"it does not matter", rest + "requires = \"test\"\naccept_unknown = true\n", 0},
		{"approvals", rest + "approvals = [\"deploy\"]\n", 0},
	} {
		p, mistakes := parser.Parse(kinds.Table(), "p.toml", []byte(c.text))
		if mistakes.HasErrors() {
			t.Fatalf("%s: %v", c.name, mistakes)
		}
		found := 0
		for _, d := range prove.Check(p, policy.Options{}) {
			if d.Code == diag.SuccessUnknown {
				found++
				if d.Code.Severity() != diag.Note || d.Range.Start.Line != 4 || !strings.Contains(d.Hint, "accept_unknown") {
					t.Errorf("%s: %+v", c.name, d)
				}
			}
		}
		if found != c.want {
			t.Errorf("%s: %d notes, want %d", c.name, found, c.want)
		}
	}
}

// Proves I10: a session policy of an unknown type hides no other mistake.
func TestUnknownSessionTypeHidesNothing(t *testing.T) {
	_, mistakes := parser.Parse(kinds.Table(), "p.toml", []byte(`version = 1
[[session]]
type = "requires"
name = 3
within = "soon"
befor = "deploy"
before = "deploy"
requires = "test"
max_calls = 1
[[session]]
when = 1
`))
	var lines []int
	for _, d := range mistakes {
		lines = append(lines, d.Range.Start.Line)
	}
	for _, want := range []int{3, 4, 5, 6, 10, 11} {
		found := false
		for _, line := range lines {
			found = found || line == want
		}
		if !found {
			t.Errorf("no mistake in line %d: %v", want, mistakes)
		}
	}
	if len(lines) != 6 {
		t.Errorf("%d mistakes: %v", len(lines), mistakes)
	}
}

// Proves H9: check notes how several prerequisites are read, unless the file declares it.
// Proves H10: and finds a policy that governs no tool which is known.
func TestScopesAndReadings(t *testing.T) {
	const tools = "version = 1\n[tools.deploy.policy]\nrun = \"ask\"\n[tools.edit]\nalso = [\"Edit\"]\npolicy.run = \"ask\"\n"
	require := func(before, rest string) string {
		return "[[session]]\ntype = \"require\"\nbefore = " + before + "\naccept_unknown = true\n" + rest + "\n"
	}
	limit := func(tools string) string {
		return "[[session]]\ntype = \"limit\"\nmax_calls = 1\ntools = " + tools + "\n"
	}
	listed := []stopgate.ToolDefinition{{Name: "mcp__ship"}}
	for _, c := range []struct {
		name, text string
		defined    []stopgate.ToolDefinition
		want       string
	}{
		{name: "all unwritten", text: tools + require(`"deploy"`, `requires = ["test", "lint"]`), want: "all_required"},
		{name: "with an approval", text: tools + require(`"deploy"`, "requires = \"test\"\napprovals = \"plan\""), want: "all_required"},
		{name: "all written", text: tools + require(`"deploy"`, "requires = [\"test\", \"lint\"]\nrequire = \"all\"")},
		{name: "any written", text: tools + require(`"deploy"`, "requires = [\"test\", \"lint\"]\nrequire = \"any\"")},
		{name: "one", text: tools + require(`"deploy"`, `requires = "test"`)},
		{name: "a wrong name", text: tools + require(`"deplyo"`, `requires = "test"`), want: "governs_nothing"},
		{name: "a wrong glob", text: tools + limit(`["deploi_*", "edi"]`), want: "governs_nothing"},
		{name: "a glob", text: tools + limit(`["dep*"]`)},
		{name: "another name", text: tools + limit(`["Edit"]`)},
		{name: "of a definition", text: tools + limit(`["mcp__*"]`), defined: listed},
		{name: "not defined", text: tools + limit(`["mcp__*"]`), want: "governs_nothing"},
		{name: "the tools are not known", text: "version = 1\n" + limit(`["mcp__*"]`)},
		{name: "tools by glob", text: tools + "[tools.\"github__*\"]\npolicy.run = \"ask\"\n" + limit(`["mcp__*"]`)},
		{name: "unknown tools may run", text: tools + "[gate]\nunknown_tool = \"ask\"\n" + limit(`["mcp__*"]`)},
		{name: "usual writers", text: tools + "[[session]]\ntype = \"read_before_write\"\n"},
		{name: "usual writers that are not there", text: "version = 1\n[tools.deploy.policy]\nrun = \"ask\"\n[[session]]\ntype = \"read_before_write\"\n", want: "governs_nothing"},
		{name: "writers", text: tools + "[[session]]\ntype = \"read_before_write\"\nwrite_tools = \"wirte\"\n", want: "governs_nothing"},
	} {
		p, mistakes := parser.Parse(kinds.Table(), "p.toml", []byte(c.text))
		if mistakes.HasErrors() {
			t.Fatalf("%s: %v", c.name, mistakes)
		}
		var found []string
		for _, d := range prove.Check(p, policy.Options{Definitions: c.defined}) {
			if d.Code == diag.AllRequired || d.Code == diag.GovernsNothing {
				found = append(found, d.Code.Name())
			}
		}
		if got := strings.Join(found, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
