package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gone waits until the process group is gone whose leader wrote its id into a file.
func (s *seat) gone(file string) {
	s.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(s.file(file)))
	if err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); syscall.Kill(-pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("the group of %s is still there", file)
		}
	}
}

const serverPolicy = `version = 1
[mcp.servers.notes]
command = ["./server"]
env = ["THE_TOKEN"]
[mcp.servers.gone]
command = ["./not-there"]
[tools."*".policy]
run = "ask"
[tools.notes__write_file]
parameters.path = { type = "path" }
policy.run = [{ arg = "/path", prefix = "docs/", mode = "ask" }, { mode = "deny", reason = "only docs are written to" }]
`

const serverScript = `model stopgate-test
turn
call notes__write_file
  path string src/a.go
turn
call notes__write_file
  path string docs/a.md
turn
call more__write_file
  path string x
turn
say Done.
`

// Proves S39, S3 for the agent: MCP servers of the policy file and of the command line
// are tools of the agent, under the policy's rules and annotations; they get the
// environment that they were given, and end with the agent, also when it is killed.
func TestAgentServers(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	dir, env := agentHome(t, map[string]string{
		"script": serverScript, "p.toml": serverPolicy,
		"server": "#!/bin/sh\necho $$ > begun; fake-mcp-server; sleep 1000\n",
		"more":   "#!/bin/sh\necho $$ > more-begun; exec fake-mcp-server\n",
	})
	env = append(env, "THE_TOKEN=t0", "OTHER=o")
	args := []string{"--script", "script", "--pace", "0", "--policy", "p.toml", "--server", "more=./more"}
	s := sitDown(t, dir, env, nil, args...)
	s.sees("MCP server gone: start server", "MCP server notes: 1 tool", "MCP server more: 1 tool", "(?m)^>$")
	s.types("/tools\r")
	s.sees("fs_read_file", "MCP server gone is not there", "MCP server notes, 1 tool", "notes__write_file +Writes a file")
	s.types("go\r")
	s.sees("✗ notes__write_file", "only docs are written to", "notes__write_file wants to run", `path  "docs/a.md"`, "y once")
	s.types("y")
	s.sees("✓ notes__write_file", "token t0 store", "more__write_file wants to run", "y once")
	s.types("y")
	s.sees("✓ more__write_file", "token  store", "Done.", "3 calls: 2 ran, 1 refused")
	s.leaves()
	s.gone("begun")
	s.gone("more-begun")

	os.Remove(dir + "/begun")
	s = sitDown(t, dir, env, nil, args...)
	s.sees("(?m)^>$", "MCP server notes: 1 tool")
	s.cmd.Process.Kill()
	s.cmd.Wait()
	s.gone("begun") // though it never ends by itself

	cmd := exec.Command("stopgate", "agent", "--policy", "p.toml", "--list-tools", "--format", "json")
	cmd.Dir, cmd.Env = dir, append(env, "THE_CHANGE=!")
	list, err := cmd.Output()
	if err != nil || !strings.Contains(string(list), `{"name":"notes__write_file","server":"notes","description":"Writes a file"}`) {
		t.Errorf("%v %s", err, list)
	}
}

// Proves G4 for the agent: the definition that another surface accepted is the one that
// holds; a changed one is refused, and the person is told what to do.
func TestAgentServerChanges(t *testing.T) {
	dir, env := agentHome(t, map[string]string{"script": "model stopgate-test\nturn\ncall notes__write_file\n  path string x\nturn\nsay Oh.\n"})
	run := func(env []string) (string, string) {
		t.Helper()
		var log strings.Builder
		cmd := exec.Command("stopgate", "agent", "--server", "notes=fake-mcp-server", "--env", "THE_CHANGE", "--script", "script", "--pace", "0", "--non-interactive", "--format", "json", "go")
		cmd.Dir, cmd.Env, cmd.Stderr = dir, env, &log
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err, log.String())
		}
		return string(out), log.String()
	}
	out, _ := run(env)
	if !strings.Contains(out, `"code":"no_approver"`) {
		t.Errorf("%s", out)
	}
	out, _ = run(append(env, "THE_CHANGE=, and to everybody"))
	if !strings.Contains(out, `"code":"tool_definition_changed"`) || !strings.Contains(out, "write_file has changed since it was accepted and is refused; see stopgate mcp pin show notes-") {
		t.Errorf("%s", out)
	}
}

// Proves H2: "whatever follows" runs the call with what was not there when the person
// said so; a result that the policy asks about is shown, edited or kept back.
func TestAgentKeysWhileStreamingAndForResults(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	dir, env := agentHome(t, map[string]string{
		"script": "model stopgate-test\nturn\ncall fs_create_file\n  path string a.txt\n  content repeat 40 line %d\n  replace json true\n" +
			"turn\ncall fs_read_file\n  path string one\nturn\ncall fs_read_file\n  path string two\nturn\ncall fs_read_file\n  path string three\nturn\nsay Done.\n",
		"one": "the first secret\n", "two": "the second secret\n", "three": "the third secret\n",
		"p.toml": "version = 1\n[tools.\"*\".policy]\nrun = \"ask\"\n[tools.fs_read_file.policy]\nrun = \"unattended\"\nresult = \"ask\"\n",
		"editor": "#!/bin/sh\nsed -i s/secret/text/ \"$1\"\n",
	})
	s := sitDown(t, dir, env, nil, "--script", "script", "--pace", "60", "--policy", "p.toml")
	s.sees("(?m)^>$")
	s.types("go\r")
	s.sees("fs_create_file wants to run", `content +streaming`, "w yes, whatever follows")
	s.types("w")
	s.sees("✓ fs_create_file", "approved by", "fs_read_file ran; may the model see", "the first secret", "y show it to the model")
	s.types("y")
	s.sees(`✓ fs_read_file\(path: "one"\)`, "the second secret", "n keep it")
	s.types("n")
	s.sees(`✓ fs_read_file\(path: "two"\)`, "the result is withheld from the model", "the third secret", "e edit it")
	s.types("e")
	s.sees(`✓ fs_read_file\(path: "three"\)`, "the third text", "Done.", "4 calls: 4 ran")
	s.leaves()
	if !strings.HasSuffix(s.file("a.txt"), "line 40\n") {
		t.Errorf("%q", s.file("a.txt"))
	}
}
