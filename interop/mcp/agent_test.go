package mcp_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// agentScript calls tools of real servers: what may run, what the policy's annotation of
// a path refuses, what ends in an image, what fails, and what tells its progress.
const agentScript = `model stopgate-test
turn
call files__read_text_file
  path string DIR/a.txt
turn
call files__read_text_file
  path string DIR/../secret.txt
turn
call files__write_file
  path string DIR/.env
  content string x
turn
call memory__create_entities
  entities json [{"name":"Ada","entityType":"person","observations":["wrote the first program"]}]
turn
call memory__read_graph
turn
call every__get-sum
  a json 2
  b json 3
turn
call every__get-tiny-image
turn
call every__trigger-long-running-operation
  duration json 1
  steps json 2
turn
call files__read_text_file
  path string DIR/not-there.txt
turn
say Done.
`

// Proves D25-44 for the terminal agent: the tools of real servers are its own, under the
// rules and the annotations of one policy file.
func TestAgentWithRealServers(t *testing.T) {
	dir := project(t)
	policy := write(t, strings.ReplaceAll(`version = 1
[mcp.servers.files]
command = ["NODE", "FS", "DIR"]
[mcp.servers.memory]
command = ["NODE", "MEMORY"]
[tools."files__*"]
parameters.path = { type = "path" }
policy.run = [{ arg = "/path", prefix = "DIR", mode = "unattended" }, { mode = "deny", reason = "outside of the project" }]
[tools."memory__*"]
uncovered = "allow"
[tools."memory__*".policy]
run = "unattended"
[tools."every__*"]
uncovered = "allow"
[tools."every__*".policy]
run = "unattended"
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
reason = "secrets stay out of reach"
`, "DIR", dir))
	text, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	with := strings.NewReplacer(`"NODE"`, `"`+node+`"`, `"FS"`, `"`+script("mcp-server-filesystem")+`"`, `"MEMORY"`, `"`+script("mcp-server-memory")+`"`)
	if err := os.WriteFile(policy, []byte(with.Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	play := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(play, []byte(strings.ReplaceAll(agentScript, "DIR", dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(stopgate, "agent", "--policy", policy, "--script", play, "--pace", "0", "--non-interactive", "--format", "json",
		"--server", "every="+node+" "+script("mcp-server-everything"), "go")
	cmd.Env, cmd.Dir = home(t), dir
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, &log)
	}
	var ended []string
	for line := range strings.Lines(string(out)) {
		var e struct {
			Event, Tool, State, Code string
			Result                   *string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err, line)
		}
		if e.Event == "call" && e.Result != nil {
			ended = append(ended, e.Tool+" "+e.State+" "+e.Code+" "+*e.Result)
		}
	}
	wants := [][]string{
		{"files__read_text_file done", "hello"},
		{"files__read_text_file refused", "outside of the project"},
		{"files__write_file refused", "secrets stay out of reach"},
		{"memory__create_entities done", "Ada"},
		{"memory__read_graph done", "wrote the first program"},
		{"every__get-sum done", "5"},
		{"every__get-tiny-image done", "[image, image/png, ", "it cannot be shown here]"},
		{"every__trigger-long-running-operation done", "completed"},
		{"files__read_text_file failed", "ENOENT"},
	}
	if len(ended) != len(wants) {
		t.Fatalf("%d calls ended:\n%s\n%s", len(ended), strings.Join(ended, "\n"), out)
	}
	for i, want := range wants {
		for _, w := range want {
			if !strings.Contains(ended[i], w) {
				t.Errorf("call %d: there is no %q in %q", i+1, w, ended[i])
			}
		}
	}
	if strings.Contains(string(out), "hunter2") {
		t.Error("a secret was read")
	}
}
