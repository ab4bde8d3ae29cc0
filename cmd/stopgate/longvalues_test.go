package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Proves that two million harmless characters are no AWS key, and that what is too long to be
// examined is denied for that reason, by the program as it is built.
func TestDecideLongValues(t *testing.T) {
	dir := t.TempDir()
	policy := `version = 1
[[guard]]
on = "string"
pattern = "AKIA[0-9A-Z]{16}"
mode = "deny"
reason = "no AWS keys"
[[guard]]
on = "path"
glob = "**/.env"
mode = "deny"
reason = "no secrets"
[tools.run.parameters]
text = { type = "string" }
command = { type = "command" }
path = { type = "path" }
[tools.run.policy]
run = "unattended"
`
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("y", 2_000_000)
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{`{"text":"` + long + `"}`, "unattended: ", 0},
		{`{"text":"` + long + `AKIA0123456789ABCDEF"}`, "no AWS keys", 2},
		{`{"command":"echo ` + long + `"}`, "too long to be examined", 2},
		{`{"path":"src/` + long + `"}`, "ask: A value is too long to be examined; send it in smaller parts. (matcher_budget)", 4},
		{`{"path":"` + long + `/.env"}`, "no secrets", 2},
	} {
		if err := os.WriteFile(filepath.Join(dir, "args.json"), []byte(c.args), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("stopgate", "decide", "--policy", "p.toml", "--tool", "run", "--args-file", "args.json")
		if strings.Contains(c.args, "src/") {
			cmd.Args = append(cmd.Args, "--root", ".") // paths lead over the disk
		}
		cmd.Dir, cmd.Env = dir, atHome(dir)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%.20s...: exit %d, %.300s; want %d, %q", c.args, got, out, c.code, c.want)
		}
	}
}
