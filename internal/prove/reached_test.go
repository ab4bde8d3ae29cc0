package prove_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// reachedAs lists the rules of a file with the answer to the call that reaches each.
func reachedAs(t *testing.T, text string, definitions ...stopgate.ToolDefinition) (list []string) {
	t.Helper()
	file, diags := parser.Parse(kinds.Table(), "x.toml", []byte("version = 1\n"+text))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, r := range prove.Reach(file, policy.Options{Definitions: definitions}) {
		answer := "not evaluated"
		if r.Verdict.Decided {
			answer = fmt.Sprintf("%s %s", r.Verdict.Mode, r.Verdict.Code)
		}
		list = append(list, fmt.Sprintf("%s %d %s %s: %s", r.Tool, r.Index+1, r.Mode, r.Witness.Args, answer))
	}
	return list
}

// Proves I25: a call that reaches a permit is reported with the answer of the whole file,
// which is stricter where a parameter has no coverage, where it is not known which file a
// path names, or where a guard or a floor holds.
func TestReachKnowsWhatAnswersMoreStrictly(t *testing.T) {
	definition := func(name, properties, required string) stopgate.ToolDefinition {
		return stopgate.ToolDefinition{Name: stopgate.ToolName(name), Schema: []byte(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)}
	}
	braces := "{" + strings.Join(strings.Split("abcdefghijklmnopqrst", ""), ",") + "}"
	for _, c := range []struct {
		name, text  string
		definitions []stopgate.ToolDefinition
		want        string
	}{
		{"a parameter that only the definition declares", `
[tools.w.parameters]
path = { type = "path" }
[tools.w.policy]
run = [ { arg = "/path", prefix = "src/a", mode = "unattended" }, { mode = "ask" } ]`,
			[]stopgate.ToolDefinition{definition("w", `"path":{"type":"string"},"target":{"type":"string"}`, `"path","target"`)},
			`w 1 unattended {"path":"src/a","target":"x"}: ask parameter_not_covered`},
		{"one that may be left out", `
[tools.w.parameters]
path = { type = "path" }
[tools.w.policy]
run = [ { arg = "/path", prefix = "src/a", mode = "unattended" }, { mode = "ask" } ]`,
			[]stopgate.ToolDefinition{definition("w", `"path":{"type":"string"},"target":{"type":"string"}`, `"path"`)},
			`w 1 unattended {"path":"src/a"}: unattended rule_matched`},
		{"one that a setting lets pass", `
[gate]
uncovered = "allow"
[tools.w.parameters]
path = { type = "path" }
[tools.w.policy]
run = [ { arg = "/path", prefix = "src/a", mode = "unattended" }, { mode = "ask" } ]`,
			[]stopgate.ToolDefinition{definition("w", `"path":{"type":"string"},"target":{"type":"string"}`, `"path","target"`)},
			`w 1 unattended {"path":"src/a","target":"x"}: unattended rule_matched`},
		{"a line that may name too many files", `
[tools.sh.parameters]
command = { type = "command" }
[tools.sh.policy]
run = "unattended"
[[guard]]
on = "command"
usage = "rm ** <system> **"
mode = "deny"`,
			[]stopgate.ToolDefinition{definition("sh", `"command":{"type":"string","enum":["rm -rf `+braces+`"]}`, `"command"`)},
			`sh 1 unattended {"command":"rm -rf ` + braces + `"}: ask path_not_known`},
		{"a guard", `
[tools.w.parameters]
path = { type = "path" }
[tools.w.policy]
run = [ { arg = "/path", prefix = "src/a", mode = "unattended" }, { mode = "ask" } ]
[[guard]]
on = "path"
glob = "src/**"
mode = "deny"`, nil, `w 1 unattended {"path":"src/a"}: deny rule_matched`},
		{"a file of the gate", `
[tools.sh.parameters]
command = { type = "command" }
[tools.sh.policy]
run = [ { arg = "/command", usage = "cat .git/config", mode = "unattended" }, { mode = "ask" } ]`, nil,
			`sh 1 unattended {"command":"cat .git/config"}: ask protected_target`},
		{"a table for many tools", `
[tools."fs_*".policy]
run = [ { arg = "/path", glob = "src/a/**", mode = "unattended" }, { mode = "ask" } ]
[tools."fs_q*".policy]
run = "deny"`, nil, ` 1 unattended {"path":"src/a"}: unattended rule_matched`},
		{"a restrictive rule about the home", `
[tools.w.parameters]
path = { type = "path" }
[tools.w.policy]
run = [ { arg = "/path", glob = "~/.ssh/**", mode = "deny" }, { arg = "/path", prefix = "src", mode = "unattended" }, { mode = "ask" } ]`, nil,
			`w 1 deny {"path":"./~/.ssh/q7w9"}: deny rule_matched`},
		{"data of the session", `
[tools.w.policy]
run = [ { when = { session = "/frozen", const = true }, mode = "deny" }, { mode = "ask" } ]`, nil,
			`w 1 deny {}: not evaluated`},
	} {
		if got := reachedAs(t, c.text, c.definitions...); !slices.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nwant among them %s", c.name, strings.Join(got, "\n"), c.want)
		}
	}
}

// Proves K47: a restrictive rule about the home directory, whose place no path tells, is not
// reported as one that nothing reaches, except where the rules above decide its paths too.
func TestRulesAboutTheHome(t *testing.T) {
	for _, c := range []struct{ rules, want string }{
		{`{ arg = "/path", glob = "~/.ssh/**", mode = "deny" }`, ""},
		{`{ arg = "/path", enum = ["~/.netrc", "~"], mode = "ask" }`, ""},
		{`{ arg = "/path", prefix = "~/x", mode = "deny" }, { arg = "/path", prefix = "~/y", mode = "skip" }`, ""},
		{`{ arg = "/path", prefix = "~/x", mode = "unattended" }`, "SG0207"},
		{`{ arg = "/path", prefix = "~/x", mode = "deny" }, { arg = "/path", prefix = "~/x/y", mode = "ask" }`, "SG0303"},
	} {
		_, diags := prove.Compile([]policy.Source{{Name: "x.toml", Trusted: true, Text: []byte(`version = 1
[tools.w.parameters]
path = { type = "path", required = true }
[tools.w.policy]
run = [ ` + c.rules + `, { mode = "ask" } ]
`)}}, policy.Options{})
		var codes []string
		for _, d := range diags {
			codes = append(codes, string(d.Code))
		}
		if got := strings.Join(codes, " "); got != c.want {
			t.Errorf("%s: %q, want %q\n%v", c.rules, got, c.want, diags)
		}
	}
}
