package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Proves FM6: a server that does not look at its input any more ends with a gate that was
// killed.
func TestMCPServersEndWithAKilledGate(t *testing.T) {
	dir := t.TempDir()
	c := startMCP(t, dir, "--", "/bin/sh", "-c", "echo $$ >begun; fake-mcp-server; sleep 1000")
	c.hello()
	text, err := os.ReadFile(filepath.Join(dir, "begun"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Process.Kill()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(end) {
			syscall.Kill(-pid, syscall.SIGKILL)
			t.Fatal("the server still runs")
		}
	}
}

// Proves I23, FM7: a client that reads no more, or is gone, ends the gate in order: a call
// that was asked about has its last row.
func TestMCPClientIsGone(t *testing.T) {
	dir := t.TempDir()
	ask := writeIn(t, dir, "ask.toml", "version = 1\n[mcp]\nelicitation = true\n[tools.\"*\".policy]\nrun = \"ask\"\n")
	c := startMCP(t, dir, "--policy", ask, "--", "fake-mcp-server")
	if got := c.ask(strings.Replace(mcpHello, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)); !strings.Contains(got, `"fake"`) {
		t.Fatal(got)
	}
	contains(t, c.ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+writeCall), "elicitation/create")
	c.unread.Close()
	if _, err := io.WriteString(c.in, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait()
	if !c.cmd.ProcessState.Exited() {
		t.Errorf("%v\n%s", c.cmd.ProcessState, c.err)
	}
	log := exec.Command("stopgate", "log", "--format", "json")
	log.Dir, log.Env = dir, atHome(dir)
	rows, err := log.Output()
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(rows), `"event":"asked"`, `"kind":"decision"`)
}
