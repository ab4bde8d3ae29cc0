package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Proves G4: definitions that the policy file lists are the ones that hold, also where
// another one was seen first; what is not listed is what it was.
func TestPinsInThePolicyFile(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p.toml")
	run := func(pins string) string {
		t.Helper()
		text := "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n[mcp.servers.notes]\ncommand = [\"fake-mcp-server\"]\n" + pins
		if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := startMCP(t, dir, "--policy", policy)
		c.hello()
		got := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"x"}}}`)
		c.end()
		return got
	}
	if got := run(""); strings.Contains(got, "isError") {
		t.Fatal(got)
	}
	if got := run("[mcp.servers.notes.pins]\nwrite_file = \"" + strings.Repeat("0", 64) + "\"\n"); !strings.Contains(got, "tool_definition_changed") {
		t.Error(got)
	}
	cmd := exec.Command("stopgate", "mcp", "pin", "list", "--format", "json")
	cmd.Dir, cmd.Env = dir, atHome(dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	hash := regexp.MustCompile(`[0-9a-f]{64}`).FindString(string(out))
	if got := run("[mcp.servers.notes.pins]\nwrite_file = \"" + hash + "\"\nother = \"" + strings.Repeat("0", 64) + "\"\n"); strings.Contains(got, "isError") {
		t.Errorf("%s\n%s", got, out)
	}
	if err := os.WriteFile(policy, []byte("version = 1\n[mcp.servers.notes]\ncommand = [\"x\"]\npins = { a = \"1\" }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command("stopgate", "mcp", "--policy", policy)
	cmd.Dir, cmd.Env = dir, atHome(dir)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "want the hash of a definition") {
		t.Errorf("%v %s", err, out)
	}
}
