package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
)

// textsPolicy denies for every kind of reason that a policy file can leave without words.
const textsPolicy = `version = 1
[gate]
denial_limit = 0
[tools.run.parameters]
command = { type = "command" }
path = { type = "path" }
[tools.run.policy]
run = [
  { arg = "/command", prefix = "rm ", mode = "deny" },
  { arg = "/path", glob = "src/**", mode = "unattended" },
  { mode = "deny" },
]
[tools.drop.policy]
run = "unattended"
[tools.deploy.policy]
run = "unattended"
[tools.test.policy]
run = "unattended"
[[session]]
type = "require"
before = "drop"
approvals = ["dba"]
[[session]]
type = "require"
before = "deploy"
requires = "test"
`

// A denial says what the model may do instead where the policy knows it: the rule that would
// allow the call, the tool to call first, to ask the user. Texts about the policy itself
// (which rule has no reason, where it is) and words of the program stay out of it, on every
// surface.
func TestDenialsSayWhatMayBeDoneInstead(t *testing.T) {
	dir := t.TempDir()
	writeIn(t, dir, "p.toml", textsPolicy)
	model := newBodyModel(t)
	s := startUp(t, dir, append([]string{"--policy", "p.toml", "--store", "memory", "--audit", "rows.jsonl"}, model.upstreams()...)...)
	m := startMCP(t, dir, "--policy", "p.toml", "--store", "memory", "--audit", "mcp.jsonl", "--", "fake-mcp-server",
		writeIn(t, dir, "it.tools.json", `[{"name":"run","inputSchema":{"type":"object","properties":{"command":{"type":"string"},"path":{"type":"string"}}}},{"name":"drop","inputSchema":{"type":"object"}},{"name":"deploy","inputSchema":{"type":"object"}}]`))
	m.hello()
	for i, c := range []struct{ tool, args, says string }{
		{"run", `{"path":"lib/a"}`, "The policy has a rule that allows this tool where /path matches `src/**`."},
		{"run", `{"command":"rm   -rf x"}`, "/command"},
		{"drop", `{}`, "Ask the user for the approval named dba"},
		{"deploy", `{}`, "Call test first; it must have succeeded"},
	} {
		_, answer := s.ask(t, "", "POST", "/v1/calls", fmt.Sprintf(`{"tool":%q,"args":%s,"session":"s"}`, c.tool, c.args))
		model.body.Store(fmt.Sprintf(`{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}]}}]}`, i, c.tool, c.args))
		_, chat := post(t, s.url+"/v1/chat/completions", fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"go %d"}],"tools":[{"type":"function","function":{"name":%q,"parameters":{"type":"object","properties":{"command":{"type":"string"},"path":{"type":"string"}}}}}]}`, i, c.tool))
		for surface, said := range map[string]string{
			"API": fmt.Sprint(answer["public"]), "gateway": chat,
			"MCP": m.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, i, c.tool, c.args)),
		} {
			if !strings.Contains(said, strings.TrimSuffix(c.says, ".")) {
				t.Errorf("%s: %s %s lacks %q: %s", surface, c.tool, c.args, c.says, said)
			}
			for _, odd := range []string{"has no reason", "p.toml", "approval of dba", "trimmed"} {
				if strings.Contains(said, odd) {
					t.Errorf("%s: %s %s says %q: %s", surface, c.tool, c.args, odd, said)
				}
			}
		}
	}
	m.end()
}

// What explain says of a plain match names no reading of the value, and no rule is blamed for
// having no reason. An import says each of its notes once.
func TestCommandsSayNothingOdd(t *testing.T) {
	dir := t.TempDir()
	writeIn(t, dir, "p.toml", textsPolicy)
	for _, command := range []string{"decide", "explain"} {
		exit, said := stopgateIn(dir, command, "--policy", "p.toml", "--tool", "run", "--args", `{"command":"rm   -rf"}`)
		if exit != cli.ExitDenied || strings.Contains(said, "trimmed") || strings.Contains(said, "read as") || strings.Contains(said, "has no reason") {
			t.Errorf("%s: exit %d: %s", command, exit, said)
		}
	}
	writeIn(t, dir, "settings.json", `{"permissions":{"allow":["Bash(npm run a:*)","Bash(npm run b:*)","Bash(go test:*)","Bash(make)"],"deny":["Read(./.env)","Read(./a)","Read(./b)","Read(./c)"]}}`)
	exit, said := stopgateIn(dir, "import", "claude-settings", "settings.json", "-o", "o.toml")
	if exit != cli.ExitOK {
		t.Fatalf("import: exit %d: %s", exit, said)
	}
	for line := range strings.Lines(said) {
		if strings.Count(said, line) > 1 {
			t.Errorf("import says more than once: %s", line)
		}
	}
}

// After n the frame of a call never says that the user said yes.
func TestAgentDoesNotTakeNoForYes(t *testing.T) {
	dir, env := agentHome(t, map[string]string{"script": writeScript})
	s := sitDown(t, dir, env, nil, "--script", "script", "--pace", "20")
	s.sees("(?m)^>$")
	s.types("write\r")
	s.sees("y yes, when complete")
	s.types("n")
	s.sees("not run: say what to do", "(?m)^>$")
	s.types("\x04")
	s.cmd.Wait()
	if strings.Contains(s.written(), "you said yes") || s.file("a.txt") != "(none)" {
		t.Errorf("after n: %s", s.screen)
	}
}
