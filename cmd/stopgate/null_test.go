package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Proves that the built program takes null where a rule names it, by default too, asks about
// arguments that do not fit where [gate] of another file says so, and that check and diff agree.
func TestDecideNull(t *testing.T) {
	dir := t.TempDir()
	policy := `version = 1
[gate]
on_schema_violation = "ask"
[tools.search.parameters]
query = { type = "string", required = true }
limit = { type = ["integer", "null"], default = { null = true } }
[tools.search.policy]
run = [
  { arg = "/limit", const = { null = true }, mode = "unattended", ignores = ["/query"] },
  { arg = "/limit", maximum = 10, mode = "unattended", ignores = ["/query"] },
  { mode = "deny" },
]
[tools.strict.parameters]
n = { type = "integer" }
[tools.strict.policy]
run = "unattended"
`
	for name, text := range map[string]string{
		"p.toml":     policy,
		"q.toml":     strings.Replace(policy, `true }, mode = "unattended"`, `true }, mode = "ask"`, 1),
		"plain.toml": "version = 1\n[tools.strict.parameters]\nn = { type = \"integer\" }\n[tools.strict.policy]\nrun = \"unattended\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		cmd := exec.Command("stopgate", args...)
		cmd.Dir, cmd.Env = dir, atHome(dir)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	for _, c := range []struct {
		tool, args, want string
		policies         []string
	}{
		{"search", `{"query":"x","limit":null}`, "unattended: ", []string{"p.toml"}},
		{"search", `{"query":"x"}`, "unattended: ", []string{"p.toml"}},
		{"search", `{"query":"x","limit":7}`, "unattended: ", []string{"p.toml"}},
		{"search", `{"query":"x","limit":70}`, "deny: ", []string{"p.toml"}},
		{"strict", `{"n":null}`, "ask: ", []string{"p.toml"}},
		{"strict", `{"n":null}`, "deny: ", []string{"plain.toml"}},
		{"strict", `{"n":null}`, "ask: ", []string{"p.toml", "plain.toml"}},
	} {
		line := []string{"decide", "--tool", c.tool, "--args", c.args}
		for _, p := range c.policies {
			line = append(line, "--policy", p)
		}
		if out := run(line...); !strings.HasPrefix(out, c.want) {
			t.Errorf("%v: %s %s: %s, want %q", c.policies, c.tool, c.args, out, c.want)
		}
	}
	if out := run("check", "--reach", "p.toml"); !strings.Contains(out, `rule 1 (unattended) is reached by {"query":"x"}`) || !strings.Contains(out, "0 mistakes") {
		t.Errorf("check: %s", out)
	}
	if out := run("diff", "p.toml", "q.toml"); !strings.Contains(out, "1 change: 0 loosened, 1 tightened; there are no others") {
		t.Errorf("diff: %s", out)
	}
}

// Null is permitted where a rule names it, a default of null too, a rule with present = "value"
// leaves null out, and what does not fit the
// schema is asked where [gate] says so: through a hook, the MCP gateway and a gateway alike.
func TestNullOnSurfaces(t *testing.T) {
	list := `[ { arg = "/limit", const = { null = true }, mode = "unattended", ignores = ["/query"] }, { arg = "/limit", maximum = 10, mode = "unattended", ignores = ["/query"] }, { mode = "deny" } ]`
	given := `[ { arg = "/limit", present = "value", mode = "deny" }, { mode = "unattended" } ]`
	dir := liveIn(t, `version = 1
[gate]
on_schema_violation = "ask"
denial_limit = 0
[approvals]
unary_timeout = "10ms"
[tools.files__search.policy]
run = `+list+`
[tools.search.policy]
run = `+list+`
[tools.files__strict.policy]
run = "unattended"
[tools.strict.policy]
run = "unattended"
[tools.files__given.policy]
run = `+given+`
[tools.given.policy]
run = `+given+`
`)
	search := `{"type":"object","required":["query"],"properties":{"query":{"type":"string"},"limit":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}}}`
	strict := `{"type":"object","properties":{"n":{"type":"integer"}}}`
	cases := []struct{ tool, args, status, code string }{
		{"search", `{"query":"x","limit":null}`, "allowed", "rule_matched"},
		{"search", `{"query":"x"}`, "allowed", "rule_matched"},
		{"search", `{"query":"x","limit":7}`, "allowed", "rule_matched"},
		{"search", `{"query":"x","limit":70}`, "denied", "rule_matched"},
		{"search", `{"query":"x","limit":"7"}`, "denied", "rule_matched"}, // the last rule, stricter than the question
		{"given", `{"query":"x","limit":null}`, "allowed", "rule_matched"},
		{"given", `{"query":"x"}`, "allowed", "rule_matched"},
		{"given", `{"query":"x","limit":7}`, "denied", "rule_matched"},
		{"strict", `{"n":7}`, "allowed", "rule_matched"},
		{"strict", `{"n":null}`, "denied", "schema_violation"},
	}
	asked := func(p surfaced) bool {
		return p.Code == "no_approver" || p.Code == "approval_pending" || p.Mode == "ask" && p.Code == "schema_violation"
	}
	check := func(where, args, status, code string, p surfaced) {
		t.Helper()
		if code == "schema_violation" && asked(p) || p.Status == status && p.Code == code {
			return
		}
		t.Errorf("%s: %s: %+v, want %s %s", where, args, p, status, code)
	}
	m := newLiveMCP(t, dir, "files", `[{"name":"search","inputSchema":`+search+`},{"name":"given","inputSchema":`+search+`},{"name":"strict","inputSchema":`+strict+`}]`)
	g := newLiveGateway(t, dir)
	for _, c := range cases {
		check("MCP gateway", c.args, c.status, c.code, m.calls(t, c.tool, c.args))
		schema := map[string]string{"search": search, "given": search, "strict": strict}[c.tool]
		check("gateway", c.args, c.status, c.code, g.calls(t, c.tool, c.args, schema))
	}
	// A hook hears of no schema: the policy declares the parameters.
	for _, tool := range []string{"files__search", "files__given", "files__strict"} {
		nullable := "query = { type = \"string\", required = true }\nlimit = { type = [\"integer\", \"null\"], default = { null = true } }\n"
		parameters := map[string]string{
			"files__search": nullable, "files__given": nullable,
			"files__strict": "n = { type = \"integer\" }\n",
		}[tool]
		text, err := os.ReadFile("p.toml")
		if err != nil {
			t.Fatal(err)
		}
		writeIn(t, dir, "p.toml", string(text)+"[tools."+tool+".parameters]\n"+parameters)
	}
	for _, c := range cases {
		check("hook", c.args, c.status, c.code, throughHook(t, dir, "codex", "mcp__files__"+c.tool, c.args))
	}
}
