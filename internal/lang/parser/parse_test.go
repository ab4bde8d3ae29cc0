package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// ruleText formats the exported fields of a rule.
func ruleText(r *syntax.Rule) string {
	var parts []string
	for _, c := range r.Conditions {
		on := c.Arg.String()
		if c.On != "" {
			on = "every " + c.On
		}
		var values []string
		for _, v := range c.Spec.Values {
			values = append(values, v.JSON)
		}
		part := fmt.Sprintf("%s %s %s", on, c.Spec.Kind, strings.Join(values, "|"))
		if c.Spec.List != "" {
			part += " from " + c.Spec.List
		}
		if c.Match != syntax.QuantifierDefault {
			part += " " + c.Match.String()
		}
		parts = append(parts, part)
	}
	text := r.Mode.String()
	if len(parts) > 0 {
		text += " if " + strings.Join(parts, " and ")
	}
	if r.Match != syntax.QuantifierDefault {
		text += " match " + r.Match.String()
	}
	if w := r.When; w != nil {
		text += fmt.Sprintf(" when %v %v %v %v", w.Agent, w.Surface, w.Server, w.Principal)
	}
	return text
}

func listText(l *syntax.RuleList) []string {
	if l == nil {
		return nil
	}
	list := []string{}
	for i, r := range l.Rules {
		if r.Index != i {
			list = append(list, fmt.Sprintf("rule %d calls itself %d", i, r.Index))
		}
		list = append(list, ruleText(r))
	}
	return list
}

// Proves D25-01, D25-02, D25-05, D25-06, D25-07, D25-08, D25-09, D25-12, D25-20, D25-21, K26, K27,
// K28, K33, K60: the meaning of every way to write a list.
func TestRuleLists(t *testing.T) {
	for _, test := range []struct {
		name, text  string
		run, result []string
	}{
		{"policy table", "[tools.t.policy]\nrun = \"ask\"\nresult = \"unattended\"", []string{"ask"}, []string{"unattended"}},
		{"top level", "[tools.t]\nrun = \"edit\"\nresult = \"skip\"", []string{"edit"}, []string{"skip"}},
		{"policy wins", "[tools.t]\nrun = \"deny\"\npolicy.run = \"ask\"\nresult = \"ask\"", []string{"ask"}, []string{"ask"}},
		{"as the seed writes it", "[conversation.tools.t.policy]\nrun = \"unattended\"", []string{"unattended"}, nil},
		{"deny is an alias too", "[tools.t.policy]\nrun = \"deny\"", []string{"deny"}, nil},
		{"nothing", "[tools.t]\nsource = \"local\"", nil, nil},
		{"empty list", "[tools.t.policy]\nrun = []", []string{}, nil},
		{"array", `[tools.t.policy]
run = [
  { arg = "/path", prefix = "src/sensitive/", mode = "ask" },
  { arg = "/path", prefix = "src/", mode = "unattended" },
  { mode = "ask" },
]`, []string{`ask if /path prefix "src/sensitive/"`, `unattended if /path prefix "src/"`, "ask"}, nil},
		{"array of tables", `[[tools.t.policy.run]]
arg = "/path"
prefix = "src/"
mode = "unattended"
[[tools.t.policy.run]]
mode = "ask"`, []string{`unattended if /path prefix "src/"`, "ask"}, nil},
		{"matchers", `[tools.t.policy]
run = [
  { arg = "/a", const = "x", mode = "ask" },
  { arg = "/a", enum = ["x", 1, true], mode = "ask" },
  { arg = "/a", pattern = 'rm\s+-rf', mode = "ask" },
  { arg = "/a", suffix = ".pem", mode = "ask" },
  { arg = "/a", glob = "**/*.pem", mode = "ask" },
  { arg = "/a", minimum = 1000, mode = "ask" },
  { arg = "/a", maximum = 1_000, mode = "ask" },
  { arg = "/a", exclusive_minimum = -0.5, mode = "ask" },
  { arg = "/a", exclusive_maximum = +1e3, mode = "ask" },
  { arg = "/a", present = false, mode = "ask" },
  { arg = "/a", min_items = 1, mode = "ask" },
  { arg = "/a", max_items = 2, mode = "ask" },
  { arg = "/a", max_length = 3, mode = "ask" },
  { arg = "/a", host = "*.example.com", mode = "ask" },
  { arg = "/a", scheme = "https", mode = "ask" },
]`, []string{
			`ask if /a const "x"`, `ask if /a enum "x"|1|true`, `ask if /a pattern "rm\\s+-rf"`, `ask if /a suffix ".pem"`,
			`ask if /a glob "**/*.pem"`, `ask if /a minimum 1000`, `ask if /a maximum 1000`, `ask if /a exclusive_minimum -0.5`,
			`ask if /a exclusive_maximum 1000`, `ask if /a present false`, `ask if /a min_items 1`, `ask if /a max_items 2`,
			`ask if /a max_length 3`, `ask if /a host "*.example.com"`, `ask if /a scheme "https"`,
		}, nil},
		{"values of any type", `[tools.t.policy]
run = [
  { arg = "/a", const = 9007199254740993, mode = "ask" },
  { arg = "/a", const = 123456789012345678901234567890, mode = "ask" },
  { arg = "/a", const = { number = "1e400" }, mode = "ask" },
  { arg = "/a", const = 1.0, mode = "ask" },
  { arg = "/a", const = { b = [1, { number = "2" }, {}], a = "x" }, mode = "ask" },
  { arg = "/a", const = [1.0, "y", false], mode = "ask" },
]`, []string{
			"ask if /a const 9007199254740993", "ask if /a const 1.2345678901234567890123456789e29", "ask if /a const 1e400", "ask if /a const 1",
			`ask if /a const {"a":"x","b":[1,2,{}]}`, `ask if /a const [1,"y",false]`,
		}, nil},
		{"pointers", `[tools.t.policy]
run = [ { arg = "/a~1b/~0", const = 1, mode = "ask" }, { arg = "/", const = 1, mode = "ask" } ]`,
			[]string{"ask if /a~1b/~0 const 1", "ask if / const 1"}, nil},
		{"compound", `[tools.t.policy]
run = [ { all = [ { arg = "/a", minimum = 1 }, { arg = "/a", maximum = 5, match = "any" } ], match = "all", mode = "unattended" } ]`,
			[]string{"unattended if /a minimum 1 and /a maximum 5 any match all"}, nil},
		{"lists", `[lists]
secrets = ["**/.env*", "**/*.pem"]
[tools.t.policy]
run = [ { arg = "/a", glob_in = "secrets", mode = "deny" }, { arg = "/a", enum_in = "secrets", mode = "deny" } ]`,
			[]string{`deny if /a glob "**/.env*"|"**/*.pem" from secrets`, `deny if /a enum "**/.env*"|"**/*.pem" from secrets`}, nil},
		{"facts of the call", `[tools.t.policy]
run = [ { when = { agent = "main", surface = ["hook", "mcp"], server = "git*" }, mode = "deny" }, { arg = "/a", const = 1, when = { principal = "bob" }, mode = "ask" } ]`,
			[]string{"deny when [main] [hook mcp] [git*] []", "ask if /a const 1 when [] [] [] [bob]"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := parse(t, "version = 1\n"+test.text)
			if len(p.Tools) != 1 || p.Tools[0].Name != "t" {
				t.Fatalf("tools: %v", p.Tools)
			}
			if diff := cmp.Diff(test.run, listText(p.Tools[0].Run)); diff != "" {
				t.Errorf("run: %s", diff)
			}
			if diff := cmp.Diff(test.result, listText(p.Tools[0].Result)); diff != "" {
				t.Errorf("result: %s", diff)
			}
		})
	}
}

// Proves K26: a number keeps its digits.
func TestNumbersKeepTheirText(t *testing.T) {
	p := parse(t, "version = 1\n[tools.t.policy]\nrun = [ { arg = \"/a\", enum = [1.50, 1_000, +2, { number = \"1E400\" }], mode = \"ask\" } ]")
	var got []string
	for _, v := range p.Tools[0].Run.Rules[0].Conditions[0].Spec.Values {
		if v.Kind != condition.LiteralNumber {
			t.Errorf("%v is no number", v)
		}
		got = append(got, v.Text)
	}
	if diff := cmp.Diff([]string{"1.50", "1000", "2", "1E400"}, got); diff != "" {
		t.Error(diff)
	}
}

// Proves D25-04, K0a, K0f, K19, K24, K36, K37, S39: the tables next to rule lists.
func TestTables(t *testing.T) {
	p := parse(t, `version = 1
[gate]
unknown_tool = "ask"
unknown_params = "deny"
on_schema_violation = "ask"
deny_mode = "throw"
enforcement = "observe"
strict = true
[paths]
root = "/srv/proj/"
home = "/home/dev"
[tools."*".policy]
run = "ask"
[tools.shell]
source = "local"
also = ["Bash", "run_shell_command"]
summary = "s"
unknown_params = "allow"
on_schema_violation = "deny"
[tools.shell.parameters.line]
type = "command"
required = true
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
reason = "Secrets stay out of reach."
note = "ticket 7"
[[guard]]
arg = "/n"
minimum = 5
mode = "ask"
[[guard]]
when = { surface = "hook" }
mode = "ask"
[gateway]
listen = "127.0.0.1:0"
[audit]
file = "x"
`)
	gate := p.Gate
	if gate.UnknownTool != stopgate.Ask || gate.UnknownParams != syntax.ParamDeny || gate.OnSchemaViolation != stopgate.Ask ||
		gate.DenyMode != "throw" || gate.Enforcement != "observe" || !gate.Strict {
		t.Errorf("gate: %+v", gate)
	}
	if p.Paths.Root != "/srv/proj" || p.Paths.Home != "/home/dev" {
		t.Errorf("paths: %+v", p.Paths)
	}
	shell := p.Tools[1]
	if shell.Source != "local" || !cmp.Equal(shell.Also, []string{"Bash", "run_shell_command"}) || shell.Schema == nil ||
		*shell.Unknown != syntax.ParamAllow || *shell.OnSchema != stopgate.Deny || shell.Run != nil {
		t.Errorf("shell: %+v", shell)
	}
	var guards []string
	for _, g := range p.Guards {
		guards = append(guards, ruleText(g))
	}
	if diff := cmp.Diff([]string{`deny if every path glob "**/.env*"`, "ask if /n minimum 5", "ask when [] [hook] [] []"}, guards); diff != "" {
		t.Error(diff)
	}
	if g := p.Guards[0]; g.Reason != "Secrets stay out of reach." || g.Note != "ticket 7" || g.Pos.Start.Line != 23 {
		t.Errorf("guard: %+v", g)
	}
	if len(p.Tables) != 2 || p.Tables["gateway"].Get("listen").Value.Text != "127.0.0.1:0" || p.Tables["audit"] == nil {
		t.Errorf("tables: %v", p.Tables)
	}
	zero := parse(t, "version = 1").Gate
	if zero.UnknownTool != stopgate.Deny || zero.OnSchemaViolation != stopgate.Deny || zero.UnknownParams != syntax.ParamAsk || zero.Strict {
		t.Errorf("what nobody writes is not the strictest: %+v", zero)
	}
	if got := syntax.ParamAction(9).String(); got != "deny" {
		t.Errorf("an action that is none reads %q", got)
	}
}

// Proves S29, V3-19: the settings of [judge] and their defaults.
func TestJudgeTable(t *testing.T) {
	p := parse(t, "version = 1\n[judge]\nmodel = \"m\"\n")
	want := &syntax.Judge{
		Tools: []string{"*"}, Model: "m", API: "openai", Threshold: 0.5, Mode: stopgate.Deny, OnError: stopgate.Deny,
		Timeout: 10_000, Cache: 24 * 3_600_000, MaxBytes: 128 << 10, File: p.Name, Pos: p.Judge.Pos,
	}
	if diff := cmp.Diff(want, p.Judge); diff != "" || !p.Judge.Governs("anything") {
		t.Error(diff)
	}
	p = parse(t, `version = 1
[judge]
tools = ["run_*", "deploy"]
model = "m"
api = "anthropic"
base_url = "http://127.0.0.1:1"
key_env = "KEY"
guidance = "Production is db-1."
threshold = 0.25
mode = "ask"
on_error = "ask"
observe = true
explain = true
timeout = "3s"
cache = "0s"
max_bytes = 1000
`)
	want = &syntax.Judge{
		Tools: []string{"run_*", "deploy"}, Model: "m", API: "anthropic", BaseURL: "http://127.0.0.1:1", KeyEnv: "KEY",
		Guidance: "Production is db-1.", Threshold: 0.25, Mode: stopgate.Ask, OnError: stopgate.Ask, Observe: true, Explain: true,
		Timeout: 3_000, MaxBytes: 1000, File: p.Name, Pos: p.Judge.Pos,
	}
	if diff := cmp.Diff(want, p.Judge); diff != "" {
		t.Error(diff)
	}
	for tool, governed := range map[stopgate.ToolName]bool{"run_command": true, "deploy": true, "read": false} {
		if p.Judge.Governs(tool) != governed {
			t.Errorf("%s: governed %v", tool, !governed)
		}
	}
}

// Every mistake in [judge] is found, each with its position.
func TestJudgeTableMistakes(t *testing.T) {
	_, found := parser.Parse(kinds.Table(), "p.toml", []byte(`version = 1
[judge]
model = ""
api = "gemini"
threshold = -0.1
mode = "edit"
on_error = "skip"
timeout = "2m"
cache = "48h"
max_bytes = 0
key_env = "A"
key_file = "b"
guidance = "`+strings.Repeat("x", 4001)+`"
tools = ["a["]
modle = "m"
`))
	lines := map[int]bool{}
	for _, d := range found.Errors() {
		lines[d.Range.Start.Line] = true
	}
	for line := 3; line <= 15; line++ {
		if line != 11 && !lines[line] {
			t.Errorf("no error in line %d", line)
		}
	}
	if _, found := parser.Parse(kinds.Table(), "p.toml", []byte("version = 1\n[judge]\n")); !found.HasErrors() {
		t.Error("a judge without a model is no mistake")
	}
}
