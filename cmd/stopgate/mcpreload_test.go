package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Proves FM11, FM12 for MCP: a policy that changes comes into force within the session;
// the client hears that its tools may be others; a broken one changes nothing.
func TestMCPReloads(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p.toml")
	write := func(text string) {
		t.Helper()
		next := filepath.Join(dir, "next")
		if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, policy); err != nil {
			t.Fatal(err)
		}
	}
	free := "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n"
	write(strings.Replace(free, "unattended", "deny", 1))
	c := startMCP(t, dir, "--policy", policy, "--", "fake-mcp-server")
	c.hello()
	call := `{"jsonrpc":"2.0","id":%,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"x"}}}`
	if got := c.ask(strings.Replace(call, "%", "1", 1)); !strings.Contains(got, "Unknown tool") {
		t.Fatal(got)
	}
	write(free)
	line, err := c.out.ReadString('\n')
	if err != nil || !strings.Contains(line, `"notifications/tools/list_changed"`) {
		t.Fatalf("%v %s", err, line)
	}
	if got := c.ask(strings.Replace(call, "%", "2", 1)); !strings.Contains(got, "token t0") {
		t.Fatal(got)
	}
	if said := c.err.String(); strings.Contains(said, "need a restart") {
		t.Error(said)
	}
	write("version = 1\nnonsense = true\n")
	until(t, "the broken file is refused", func() bool { return strings.Contains(c.err.String(), "reload refused") })
	if got := c.ask(strings.Replace(call, "%", "3", 1)); !strings.Contains(got, "token t0") {
		t.Fatal(got)
	}
	write(free + "[mcp]\ndeny = \"error\"\n")
	until(t, "what needs a restart is said", func() bool { return strings.Contains(c.err.String(), "some changes need a restart") })
	if text := c.end(); !strings.Contains(text, "[mcp] but its tokens") {
		t.Error(text)
	}
}
