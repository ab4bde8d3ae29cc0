package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// verdictOf decides one call with the built program on one surface. The schema is what a
// request, a server or a client declares for the tool.
type verdictOf func(t *testing.T, dir, tool, schema, args string) (mode, code string)

// surfaces are all ways to the gate of the built program, each with the file p.toml.
var surfaces = map[string]verdictOf{"gateway": viaGateway, "mcp": viaMCP, "hook": viaHook, "api": viaAPI, "decide": viaDecide}

// lastDecision is the mode and the code of the last decision that is recorded.
func lastDecision(t *testing.T, audit string) (mode, code string) {
	t.Helper()
	rows, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(rows)) {
		var row struct{ Kind, Verdict, Mode, Code string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.Kind == "decision" {
			mode, code = row.Mode, row.Code
		}
	}
	if mode == "" {
		t.Fatalf("no decision in %s", rows)
	}
	return mode, code
}

func viaGateway(t *testing.T, dir, tool, schema, args string) (mode, code string) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,
			"tool_calls":[{"id":"c1","type":"function","function":{"name":%q,"arguments":%s}}]}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, tool, strconv.Quote(args))
	}))
	defer model.Close()
	policy, err := os.ReadFile(filepath.Join(dir, "p.toml"))
	if err != nil {
		t.Fatal(err)
	}
	writeIn(t, dir, "up.toml", string(policy)+"[upstream.model]\napi = \"openai\"\nbase_url = \""+model.URL+"\"\n")
	s := startUp(t, dir, "--policy", "up.toml", "--audit", "records.jsonl", "--store", "memory")
	defer s.stop(t)
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/v1/chat/completions",
		strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"`+tool+`","parameters":`+schema+`}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer key") // what has none is answered by the replay model
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return lastDecision(t, filepath.Join(dir, "records.jsonl"))
}

func viaMCP(t *testing.T, dir, tool, schema, args string) (mode, code string) {
	writeIn(t, dir, "it.tools.json", `[{"name":"`+tool+`","inputSchema":`+schema+`}]`)
	c := startMCP(t, dir, "--policy", "p.toml", "--audit", "records.jsonl", "--store", "memory", "--", "fake-mcp-server", "it.tools.json")
	c.hello()
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`)
	c.end()
	return lastDecision(t, filepath.Join(dir, "records.jsonl"))
}

func viaHook(t *testing.T, dir, tool, schema, args string) (mode, code string) {
	cmd := exec.Command("stopgate", "hook", "claude-code", "--policy", "p.toml", "--audit", "records.jsonl", "--store", "memory")
	cmd.Dir, cmd.Env = dir, atHome(dir)
	cmd.Stdin = strings.NewReader(`{"session_id":"s","cwd":` + strconv.Quote(dir) + `,"hook_event_name":"PreToolUse","tool_name":"mcp__srv__` + tool + `","tool_input":` + args + `,"tool_use_id":"t","permission_mode":"default"}`)
	cmd.CombinedOutput() // the record says it
	return lastDecision(t, filepath.Join(dir, "records.jsonl"))
}

func viaAPI(t *testing.T, dir, tool, schema, args string) (mode, code string) {
	s := startUp(t, dir, "--policy", "p.toml", "--store", "memory", "--audit", "records.jsonl")
	defer s.stop(t)
	_, answer := s.ask(t, "", "POST", "/v1/check", `{"tool":"`+tool+`","args":`+args+`,"definition":{"parameters":`+schema+`}}`)
	return fmt.Sprint(answer["mode"]), fmt.Sprint(answer["code"])
}

func viaDecide(t *testing.T, dir, tool, schema, args string) (mode, code string) {
	writeIn(t, dir, "tools.json", `[{"name":"`+tool+`","input_schema":`+schema+`}]`)
	cmd := exec.Command("stopgate", "decide", "--policy", "p.toml", "--tools", "tools.json", "--tool", tool, "--args", args, "--format", "json")
	cmd.Dir, cmd.Env = dir, atHome(dir)
	out, _ := cmd.Output()
	var answer struct{ Mode, Code string }
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return answer.Mode, answer.Code
}

// guardedPolicy has guards and a permit for every tool.
const guardedPolicy = `version = 1
[gate]
unknown_tool = "ask"
[[guard]]
on = "path"
glob = "{**/.env,/home/*/.ssh/**}"
mode = "deny"
reason = "secrets stay out of reach"
[[guard]]
on = "command"
usage = "rm ** <system> **"
mode = "deny"
[tools."*".policy]
run = "unattended"
`

// Proves I1, K0a for names that nobody declared: guards see what a call names under any
// parameter, on every surface.
func TestGuardsSeeUndeclaredNames(t *testing.T) {
	const schema = `{"type":"object","properties":{"path":{"type":"string"},"target_file":{"type":"string"},"absolute_path":{"type":"string"},
		"paths":{"type":"array","items":{"type":"string"}},"uri":{"type":"string"},"command":{"type":"string"},"cmd":{"type":"string"}}}`
	for name, decide := range surfaces {
		t.Run(name, func(t *testing.T) {
			for _, c := range [][2]string{
				{"read_file", `{"target_file":".env"}`},
				{"read_file", `{"absolute_path":"/home/u/.ssh/id_rsa"}`},
				{"read_file", `{"paths":["a",".env"]}`},
				{"read_file", `{"uri":"file:///home/u/.ssh/id_rsa"}`},
				{"write_file", `{"path":"src/a","target_file":".env"}`},
				{"Bash", `{"command":"ls","cmd":"rm -rf /"}`},
				{"another", `{"uri":"{\"name\":\"conf/.env\"}"}`},
			} {
				dir := t.TempDir()
				writeIn(t, dir, "p.toml", guardedPolicy)
				mode, code := decide(t, dir, c[0], strings.ReplaceAll(schema, "\n", ""), c[1])
				if mode != "deny" || code != "rule_matched" {
					t.Errorf("%s %s: %s %s", c[0], c[1], mode, code)
				}
			}
		})
	}
}

// Proves that permission is earned: a permit runs no call with a parameter that only the
// request declares, on any surface, unless the operator says so.
func TestPermitsCoverWhatTheyRun(t *testing.T) {
	const schema = `{"type":"object","properties":{"path":{"type":"string"},"target_file":{"type":"string"},"count":{"type":"integer"}}}`
	const own = `version = 1
[gate]
unknown_tool = "ask"
[tools.save_it]
also = ["srv__save_it"]
policy.run = [{ arg = "/path", prefix = "src/", mode = "unattended" }]
`
	for name, decide := range surfaces {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct{ policy, args, mode, code string }{
				{own, `{"path":"src/a","count":1}`, "unattended", "rule_matched"},
				{own, `{"path":"src/a","target_file":"lib/b"}`, "ask", "parameter_not_covered"},
				{own + "uncovered = \"deny\"\n", `{"path":"src/a","target_file":"lib/b"}`, "deny", "parameter_not_covered"},
				{own + "uncovered = \"allow\"\n", `{"path":"src/a","target_file":"lib/b"}`, "unattended", "rule_matched"},
				{strings.Replace(own, `"unattended"`, `"unattended", ignores = ["/target_file"]`, 1), `{"path":"src/a","target_file":"lib/b"}`, "unattended", "rule_matched"},
				{"version = 1\n[tools.\"*\".policy]\nrun = \"unattended\"\n", `{"path":"src/a"}`, "ask", "parameter_not_covered"},
				{"version = 1\n[tools.\"*save_it\".policy]\nrun = \"unattended\"\n", `{"path":"src/a"}`, "ask", "parameter_not_covered"},
				{"version = 1\n[tools.save_it]\nalso = [\"srv__save_it\"]\npolicy.run = \"unattended\"\n", `{"path":"src/a"}`, "unattended", "rule_matched"},
			} {
				dir := t.TempDir()
				writeIn(t, dir, "p.toml", c.policy)
				mode, code := decide(t, dir, "save_it", schema, c.args)
				asked := c.mode == "ask" && code == "no_approver" // a question that nobody is there to answer
				if !asked && (mode != c.mode || code != c.code) {
					t.Errorf("%s\n%s: %s %s, want %s %s", c.policy, c.args, mode, code, c.mode, c.code)
				}
			}
		})
	}
}
