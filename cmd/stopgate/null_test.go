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
