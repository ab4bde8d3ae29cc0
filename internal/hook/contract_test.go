package hook_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// contract is a policy with short answers: the name of a tool is its verdict.
const contract = `
version = 1
[tools."*".policy]
run = "deny"
[tools.free]
policy.run = "unattended"
[tools.ask]
policy.run = [ { mode = "ask", reason = "may it run?" } ]
[tools.no]
policy.run = [ { mode = "deny", reason = "not today" } ]
[tools.put]
parameters.file_path = { type = "path" }
policy.run = [ { arg = "/file_path", prefix = "src/", mode = "unattended" }, { mode = "deny" } ]
[tools."MCP:free"]
policy.run = "unattended"
[tools."MCP:ask"]
policy.run = [ { mode = "ask", reason = "may it run?" } ]
[tools.github__free]
policy.run = "unattended"
[tools.github__no]
policy.run = [ { mode = "deny", reason = "not today" } ]
[tools.Shell]
also = ["Bash", "bash", "run_shell_command", "execute_command"]
parameters.command = { type = "command" }
policy.run = [ { arg = "/command", prefix = "ls", mode = "unattended" }, { arg = "/command", prefix = "make", mode = "ask", reason = "may it run?" }, { mode = "deny", reason = "not today" } ]
[tools.Read]
parameters.file_path = { type = "path" }
policy.run = [ { arg = "/file_path", prefix = "src/", mode = "unattended" }, { mode = "deny", reason = "not today" } ]
`

const blockReason = "stopgate: not today (rule_matched)"

// reply is the expected reply, written by hand from the host's documentation.
type reply struct {
	stdout, stderr string
	exit           int
}

func answers(t *testing.T, name, policy string, o hook.Options, input string) reply {
	t.Helper()
	h := host(t, name)
	o.Open = opener(t, program(t, policy), h)
	r := ask(t, h, o, input)
	return reply{strings.TrimSuffix(string(r.Stdout), "\n"), strings.TrimSuffix(string(r.Stderr), "\n"), r.Exit}
}

// Proves FM9, S32, S39: the reply of every host, byte by byte, for each form of its events before a
// tool runs.
func TestContract(t *testing.T) {
	claude := func(decision, reason, more string) string {
		return `"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"` + decision + `","permissionDecisionReason":"` + reason + `"` + more + `}`
	}
	pascal := `{"hook_event_name":"PreToolUse","session_id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/srv/proj","tool_name":%q,"tool_input":%s}`
	vscode := `{"timestamp":"2026-01-01T00:00:00Z","cwd":"/srv/proj","sessionId":"s1","hookEventName":"PreToolUse","transcript_path":"/t","tool_name":%q,"tool_input":%s,"tool_use_id":"u1"}`
	fill := func(form, tool, args string) string {
		return strings.Replace(strings.Replace(form, "%q", `"`+tool+`"`, 1), "%s", args, 1)
	}
	flat := `"permissionDecision":"deny","permissionDecisionReason":"` + blockReason + `"`
	const asking = "stopgate: may it run? (rule_matched)"
	for _, c := range []struct {
		host, name, input string
		want              reply
	}{
		{"claude-code", "deny", event("claude-code", "no", `{}`), reply{`{` + claude("deny", blockReason, "") + `}`, blockReason, 2}},
		{"claude-code", "allow is silence", event("claude-code", "free", `{}`), reply{}},
		{"claude-code", "of a subagent, with what else may stand there", `{"session_id":"s1","transcript_path":"/t","cwd":"/srv/proj","prompt_id":"p","permission_mode":"bypassPermissions","agent_id":"a1","agent_type":"Explore","effort":{"level":"high"},"hook_event_name":"PreToolUse","tool_name":"mcp__github__no","tool_input":{},"tool_use_id":"toolu_1","mcp_server":{"name":"github"}}`,
			reply{`{` + claude("deny", blockReason, "") + `}`, blockReason, 2}},
		{"codex", "deny", event("codex", "no", `{}`), reply{`{` + claude("deny", blockReason, "") + `}`, blockReason, 2}},
		{"codex", "a bare allow is unsupported", event("codex", "free", `{}`), reply{}},
		{"codex", "of a subagent", `{"session_id":"s1","turn_id":"t1","agent_id":"a1","agent_type":"explorer","transcript_path":null,"cwd":"/srv/proj","hook_event_name":"PreToolUse","model":"m","permission_mode":"dontAsk","tool_name":"mcp__github__no","tool_input":{},"tool_use_id":"c"}`,
			reply{`{` + claude("deny", blockReason, "") + `}`, blockReason, 2}},
		{"gemini-cli", "deny", event("gemini-cli", "no", `{}`), reply{`{"decision":"deny","reason":"` + blockReason + `"}`, blockReason, 2}},
		{"gemini-cli", "renamed tool of a server", `{"session_id":"s1","transcript_path":"/t","cwd":"/srv/proj","hook_event_name":"BeforeTool","timestamp":"x","tool_name":"mcp_github_no","tool_input":{},"mcp_context":{"server_name":"github","tool_name":"no"},"original_request_name":"free"}`,
			reply{`{"decision":"deny","reason":"` + blockReason + `"}`, blockReason, 2}},
		{"gemini-cli", "allow is silence", event("gemini-cli", "free", `{}`), reply{}},
		{"cursor", "deny", event("cursor", "no", `{}`), reply{`{"permission":"deny","user_message":"` + blockReason + `","agent_message":"` + blockReason + `"}`, blockReason, 2}},
		{"cursor", "allow is always said", event("cursor", "free", `{}`), reply{stdout: `{"permission":"allow"}`}},
		{"cursor", "a command", `{"conversation_id":"s1","generation_id":"g1","model":"m","hook_event_name":"beforeShellExecution","cursor_version":"3","workspace_roots":["/srv/proj"],"user_email":null,"transcript_path":null,"command":"ls -l","cwd":"/srv/proj"}`,
			reply{stdout: `{"permission":"allow"}`}},
		{"cursor", "a command that is denied", `{"conversation_id":"s1","hook_event_name":"beforeShellExecution","command":"rm x","cwd":"/srv/proj"}`,
			reply{`{"permission":"deny","user_message":"` + blockReason + `","agent_message":"` + blockReason + `"}`, blockReason, 2}},
		{"cursor", "a file that is read", `{"conversation_id":"s1","hook_event_name":"beforeReadFile","file_path":"/srv/proj/src/a","content":"x","attachments":[]}`,
			reply{stdout: `{"permission":"allow"}`}},
		{"cursor", "a file that is not", `{"conversation_id":"s1","hook_event_name":"beforeReadFile","file_path":"/etc/passwd","content":"x","attachments":[]}`,
			reply{`{"permission":"deny","user_message":"` + blockReason + `","agent_message":"` + blockReason + `"}`, blockReason, 2}},
		{"cursor", "input that is a string", `{"conversation_id":"s1","hook_event_name":"beforeMCPExecution","tool_name":"free","tool_input":"{\"a\":1}","url":"https://h"}`,
			reply{stdout: `{"permission":"allow"}`}},
		{"cursor", "input that is an object", `{"conversation_id":"s1","hook_event_name":"beforeMCPExecution","tool_name":"MCP:free","tool_input":{"a":1},"command":"server"}`,
			reply{stdout: `{"permission":"allow"}`}},
		{"copilot-cli", "deny", event("copilot-cli", "no", `{}`), reply{`{` + flat + `}`, blockReason, 0}},
		{"copilot-cli", "arguments that are a string", event("copilot-cli", "bash", `"{\"command\":\"rm x\"}"`), reply{`{` + flat + `}`, blockReason, 0}},
		{"copilot-cli", "allow is silence", event("copilot-cli", "bash", `"{\"command\":\"ls\"}"`), reply{}},
		{"copilot-cli", "the form of Claude Code", fill(pascal, "Bash", `{"command":"rm x"}`), reply{`{` + flat + `,` + claude("deny", blockReason, "") + `}`, blockReason, 0}},
		{"copilot-cli", "VS Code", fill(vscode, "no", `{}`), reply{`{` + flat + `,` + claude("deny", blockReason, "") + `}`, blockReason, 0}},
		{"qwen-code", "deny", event("qwen-code", "no", `{}`), reply{``, blockReason, 2}},
		{"qwen-code", "ask", event("qwen-code", "ask", `{}`),
			reply{stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"stopgate: may it run? (rule_matched)"}}`}},
		{"codex", "deny before its own question", permission("no", `{}`),
			reply{`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"` + blockReason + `"}}}`, blockReason, 2}},
		{"codex", "its own question stays", permission("free", `{}`), reply{}},
		{"codex", "its own question is the one that is wanted", permission("ask", `{}`), reply{}},
		{"crush", "deny", event("crush", "no", `{}`), reply{`{"version":1,"decision":"deny","reason":"` + blockReason + `"}`, blockReason, 2}},
		{"crush", "allow is silence", event("crush", "free", `{}`), reply{}},
		{"opencode", "deny", event("opencode", "no", `{}`), reply{`{"block":true,"reason":"` + blockReason + `"}`, blockReason, 2}},
		{"opencode", "allow is said", event("opencode", "free", `{}`), reply{stdout: `{"block":false}`}},
		{"kilo", "deny", event("kilo", "no", `{}`), reply{`{"block":true,"reason":"` + blockReason + `"}`, blockReason, 2}},
		{"kilo", "allow is said", event("kilo", "free", `{}`), reply{stdout: `{"block":false}`}},
		{"pi", "deny", event("pi", "no", `{}`), reply{`{"block":true,"reason":"` + blockReason + `"}`, blockReason, 2}},
		{"cline", "deny", event("cline", "no", `{}`), reply{`{"cancel":true,"errorMessage":"` + blockReason + `"}`, blockReason, 0}},
		{"cline", "its program says the call twice", `{"clineVersion":"","taskId":"s1","workspaceRoots":["/srv/proj"],"hookName":"tool_call","iteration":1,"tool_call":{"id":"call_0","name":"no","input":{"a":[1]}},"preToolUse":{"toolName":"free","parameters":{"a":"[1]"}}}`,
			reply{`{"cancel":true,"errorMessage":"` + blockReason + `"}`, blockReason, 0}},
		{"cline", "allow is said", event("cline", "free", `{}`), reply{stdout: `{"cancel":false}`}},
		{"generic", "deny", event("generic", "no", `{}`), reply{``, blockReason, 2}},
		{"generic", "allow is silence", event("generic", "free", `{}`), reply{}},

		{"claude-code", "ask", event("claude-code", "ask", `{}`), reply{stdout: `{` + claude("ask", asking, "") + `}`}},
		{"copilot-cli", "ask", event("copilot-cli", "ask", `{}`), reply{stdout: `{"permissionDecision":"ask","permissionDecisionReason":"` + asking + `"}`}},
		{"copilot-cli", "VS Code asks", fill(vscode, "ask", `{}`), reply{stdout: `{"permissionDecision":"ask","permissionDecisionReason":"` + asking + `",` + claude("ask", asking, "") + `}`}},
		{"cursor", "ask about a command", `{"conversation_id":"s1","hook_event_name":"beforeShellExecution","command":"make","cwd":"/srv/proj"}`,
			reply{stdout: `{"permission":"ask","user_message":"` + asking + `","agent_message":"` + asking + `"}`}},
		{"cursor", "ask about a server's tool", `{"conversation_id":"s1","hook_event_name":"beforeMCPExecution","tool_name":"ask","tool_input":"{}","url":"https://h"}`,
			reply{stdout: `{"permission":"ask","user_message":"` + asking + `","agent_message":"` + asking + `"}`}},
	} {
		t.Run(c.host+"/"+c.name, func(t *testing.T) {
			if got := answers(t, c.host, contract, hook.Options{}, c.input); got != c.want {
				t.Errorf("said\n%+v\nwant\n%+v", got, c.want)
			}
		})
	}
}

// Proves S32: the reply with new arguments, in the form of each host.
func TestContractOfNewInput(t *testing.T) {
	const clean = `{"file_path":"src/a"}`
	for name, want := range map[string]string{
		"codex":       `"permissionDecision":"allow",`,
		"gemini-cli":  `{"decision":"allow","hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":` + clean + `}}`,
		"crush":       `{"version":1,"decision":"allow","updated_input":` + clean + `}`,
		"copilot-cli": `"modifiedArgs":` + clean + `}`,
		"claude-code": `"updatedInput":` + clean + `}}`,
	} {
		got := answers(t, name, contract, hook.Options{}, event(name, "put", `{"file_path":"src/../src/a"}`))
		if !strings.Contains(got.stdout, want) || got.exit != 0 {
			t.Errorf("%s said %+v, want %s", name, got, want)
		}
	}
}

// Proves FM9, X13: no member that Codex does not support is next to a denial, even if the turn must
// end: otherwise the complete reply would be invalid, and the tool would run.
func TestCodexNeverContinues(t *testing.T) {
	h := host(t, "codex")
	o := hook.Options{Open: opener(t, program(t, contract), h, gate.WithStore(new(ports.Store)))}
	for n := range 8 {
		r := ask(t, h, o, event("codex", "no", `{}`))
		for _, member := range []string{`"continue"`, `"stopReason"`, `"suppressOutput"`, `"ask"`} {
			if strings.Contains(string(r.Stdout), member) {
				t.Fatalf("denial %d: %s", n, r.Stdout)
			}
		}
		if hostDoes("codex", r) != blocks {
			t.Fatalf("denial %d: %+v", n, r)
		}
	}
}

// Proves S28: a prompt is answered in the host's form and never blocked, also by a gate that cannot
// decide.
func TestContractOfPrompts(t *testing.T) {
	for _, c := range []struct{ host, input, want string }{
		{"claude-code", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"hi","source":"user"}`, ``},
		{"codex", `{"session_id":"s1","turn_id":"t","hook_event_name":"UserPromptSubmit","prompt":"hi"}`, ``},
		{"qwen-code", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"hi"}`, ``},
		{"gemini-cli", `{"session_id":"s1","hook_event_name":"BeforeAgent","prompt":"hi"}`, ``},
		{"cursor", `{"conversation_id":"s1","hook_event_name":"beforeSubmitPrompt","prompt":"hi","attachments":[]}`, `{"continue":true}`},
		{"copilot-cli", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"hi"}`, ``},
		{"copilot-cli", `{"sessionId":"s1","timestamp":1,"cwd":"/srv/proj","prompt":"hi"}`, ``},
		{"cline", `{"hookName":"prompt_submit","taskId":"s1","workspaceRoots":["/srv/proj"],"userPromptSubmit":{"prompt":"hi","attachments":[]}}`, `{"cancel":false}`},
		{"cline", `{"hookName":"UserPromptSubmit","taskId":"s1","workspaceRoots":["/srv/proj"],"userPromptSubmit":{"prompt":"hi"}}`, `{"cancel":false}`},
	} {
		if got := answers(t, c.host, contract, hook.Options{}, c.input); got != (reply{stdout: c.want}) {
			t.Errorf("%s: %+v, want %s", c.host, got, c.want)
		}
		broken := func(context.Context, *hook.Event) (*hook.Backend, error) { return nil, nil }
		r := ask(t, host(t, c.host), hook.Options{Open: broken}, c.input)
		if strings.TrimSpace(string(r.Stdout)) != c.want || r.Exit != 0 {
			t.Errorf("%s without a gate: %s %d", c.host, r.Stdout, r.Exit)
		}
	}
}

// after has the event of each host after a tool ran, without arguments and result.
var after = map[string]string{
	"claude-code": `{"session_id":"s1","cwd":"/srv/proj","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":%s,"tool_response":%s,"tool_use_id":"toolu_1","duration_ms":3}`,
	"codex":       `{"session_id":"s1","turn_id":"t1","cwd":"/srv/proj","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":%s,"tool_response":%s,"tool_use_id":"call_1"}`,
	"gemini-cli":  `{"session_id":"s1","cwd":"/srv/proj","hook_event_name":"AfterTool","tool_name":"Read","tool_input":%s,"tool_response":%s}`,
	"copilot-cli": `{"sessionId":"s1","timestamp":1,"cwd":"/srv/proj","toolName":"Read","toolArgs":%s,"toolResult":%s}`,
	"opencode":    `{"event":"tool_result","session_id":"s1","cwd":"/srv/proj","tool":"Read","args":%s,"id":"c1","result":%s}`,
	"pi":          `{"event":"tool_result","session_id":"s1","cwd":"/srv/proj","tool":"Read","args":%s,"id":"c1","result":%s}`,
	"cline":       `{"clineVersion":"","hookName":"tool_result","taskId":"s1","workspaceRoots":["/srv/proj"],"tool_result":{"name":"Read","input":%s,"output":%s}}`,
}

// Proves X13, K32: a withheld result is replaced, in the host's member, and so is one about which
// the gate cannot decide.
func TestContractOfResults(t *testing.T) {
	const text = `version = 1
[tools.Read]
policy.run = "unattended"
policy.result = [ { mode = "skip" } ]
`
	const failed = `{"session_id":"s1","cwd":"/srv/proj","hook_event_name":"PostToolUseFailure","tool_name":"Read","tool_input":{"file_path":"src/a"},"error":"the words","is_interrupt":false,"tool_use_id":"toolu_1"}`
	const sentence = "stopgate: The call ran; its result is withheld by policy. (result_withheld)"
	envelope := strings.ReplaceAll(`{"status":"denied","code":"result_withheld","publicReason":"The call ran; its result is withheld by policy.","data":null}`, `"`, `\"`)
	const broken = "stopgate: The policy cannot be used; an operator must mend it. (config_invalid)"
	claude := func(reason, output string) string {
		output = `{"type":"text","file":{"filePath":"","content":"` + output + `","numLines":1,"startLine":1,"totalLines":1}}`
		return `{"decision":"block","reason":"` + reason + `","hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":` + output + `,"updatedMCPToolOutput":` + output + `}}`
	}
	codex := func(output string) string { return `{"decision":"block","reason":"` + output + `"}` }
	copilot := func(output string) string {
		return `{"modifiedResult":{"resultType":"success","textResultForLlm":"` + output + `"}}`
	}
	extension := func(reason string) string { return `{"block":true,"reason":"` + reason + `"}` }
	for _, c := range []struct{ host, input, want, closed string }{
		{"opencode", "", extension(envelope), extension(broken)},
		{"pi", "", extension(envelope), extension(broken)},
		{"claude-code", "", claude(sentence, envelope), claude(broken, broken)},
		{"codex", "", codex(envelope), codex(broken)},
		{"gemini-cli", "", `{"decision":"deny","reason":"` + envelope + `"}`, `{"decision":"deny","reason":"` + broken + `"}`},
		{"copilot-cli", "", copilot(envelope), copilot(broken)},
		{"claude-code", failed, `{"decision":"block","reason":"` + sentence + `","hookSpecificOutput":{"hookEventName":"PostToolUseFailure"}}`,
			`{"decision":"block","reason":"` + broken + `","hookSpecificOutput":{"hookEventName":"PostToolUseFailure"}}`},
	} {
		input := c.input
		if input == "" {
			input = strings.Replace(strings.Replace(after[c.host], "%s", `{"file_path":"src/a"}`, 1), "%s", `{"text":"the words"}`, 1)
		}
		h := host(t, c.host)
		open := opener(t, program(t, text), h, gate.WithStore(new(ports.Store)))
		ask(t, h, hook.Options{Open: open}, event(c.host, "Read", `{"file_path":"src/a"}`))
		for name, o := range map[string]hook.Options{
			c.want:   {Open: open},
			c.closed: {Open: func(context.Context, *hook.Event) (*hook.Backend, error) { return nil, nil }},
		} {
			r := ask(t, h, o, input)
			exit := map[string]int{"opencode": 2, "pi": 2}[c.host] // stopgate's own extensions
			if got := strings.TrimSuffix(string(r.Stdout), "\n"); got != name || r.Exit != exit {
				t.Errorf("%s: %s %d, want\n%s", c.host, got, r.Exit, name)
			}
		}
	}
}

// Proves X13, K32: the replacement of a result of Claude Code has the structure of the result,
// since others are ignored, and none of its texts.
func TestShapeOfResults(t *testing.T) {
	const event = `{"session_id":"s1","cwd":"/srv/proj","hook_event_name":"PostToolUse","tool_name":%q,"tool_input":{},"tool_response":%s,"tool_use_id":"toolu_1"}`
	for _, c := range []struct{ tool, result, want string }{
		{"Bash", `{"stdout":"secret","stderr":"secret","interrupted":false,"isImage":false}`, `{"stdout":"NO","stderr":"","interrupted":false,"isImage":false}`},
		{"Read", `{"type":"image","file":{"base64":"secret","type":"image/png","originalSize":3}}`, `{"type":"text","file":{"filePath":"","content":"NO","numLines":1,"startLine":1,"totalLines":1}}`},
		{"Grep", `{"mode":"content","numFiles":0,"filenames":["secret"],"content":"secret","numLines":2}`, `{"mode":"content","numFiles":0,"filenames":[],"content":"NO","numLines":2}`},
		{"Task", `{"status":"completed","content":[{"type":"text","text":"secret"}],"totalTokens":3,"type":"the secret"}`, `{"status":"completed","content":[],"totalTokens":3,"type":""}`},
		{"mcp__x__y", `[{"type":"text","text":"secret"}]`, `[{"type":"text","text":"NO"}]`},
		{"mcp__x__y", `"secret"`, `"NO"`},
		{"mcp__x__y", `{"result":"secret","n":1,"deep":{"a":null,"b":"secret"}}`, `{"result":"NO","n":1,"deep":{"a":null,"b":""}}`},
		{"mcp__x__y", `null`, `null`},
	} {
		none := func(context.Context, *hook.Event) (*hook.Backend, error) { return nil, nil }
		r := ask(t, host(t, "claude-code"), hook.Options{Open: none}, fmt.Sprintf(event, c.tool, c.result))
		want := `"updatedToolOutput":` + strings.ReplaceAll(c.want, "NO", "stopgate: The policy cannot be used; an operator must mend it. (config_invalid)")
		if !strings.Contains(string(r.Stdout), want) || strings.Contains(string(r.Stdout), "secret") {
			t.Errorf("%s: %s, want\n%s", c.tool, r.Stdout, want)
		}
	}
}

// Proves X13: a failed call is no success for session policies, in every form of a host's failure.
func TestFailedResults(t *testing.T) {
	const text = `version = 1
[tools.Read]
policy.run = "unattended"
[tools.Write]
policy.run = "unattended"
[[session]]
type = "read_before_write"
read_tools = ["Read"]
write_tools = ["Write"]
key = "/file_path"
`
	const args = `{"file_path":"src/a"}`
	for _, c := range []struct{ host, result, want string }{
		{"gemini-cli", `{"llmContent":"x","returnDisplay":"x"}`, runs},
		{"gemini-cli", `{"llmContent":"x","returnDisplay":"x","error":null}`, runs},
		{"gemini-cli", `{"llmContent":"x","returnDisplay":"x","error":{"message":"no such file"}}`, blocks},
		{"gemini-cli", `null`, runs},
		{"gemini-cli", `"error"`, runs},
		{"copilot-cli", `{"resultType":"success","textResultForLlm":"x"}`, runs},
		{"copilot-cli", `{"resultType":"failure","textResultForLlm":"x"}`, blocks},
		{"copilot-cli", `{"resultType":"denied","textResultForLlm":"x"}`, blocks},
		{"claude-code", `{"text":"x"}`, runs},
		{"codex", `"x"`, runs},
		{"pi", `[{"type":"text","text":"x"}],"error":false`, runs},
		{"pi", `[{"type":"text","text":"no such file"}],"error":true`, blocks},
		{"opencode", `"x"`, runs},
		{"cline", `"x","success":true`, runs},
		{"cline", `"no such file","error":"no such file"`, blocks},
		{"cline", `"no such file","success":false`, blocks},
	} {
		h := host(t, c.host)
		o := hook.Options{Open: opener(t, program(t, text), h, gate.WithStore(new(ports.Store)))}
		if got := hostDoes(c.host, ask(t, h, o, event(c.host, "Read", args))); got != runs {
			t.Fatalf("%s: reading: the host %s", c.host, got)
		}
		if r := ask(t, h, o, strings.Replace(strings.Replace(after[c.host], "%s", args, 1), "%s", c.result, 1)); hostDoes(c.host, r) == blocks || len(r.Stdout) != 0 && !strings.HasSuffix(string(r.Stdout), ":false}\n") {
			t.Errorf("%s: a result: %s", c.host, r.Stdout)
		}
		if got := hostDoes(c.host, ask(t, h, o, event(c.host, "Write", args))); got != c.want {
			t.Errorf("%s after %s: writing: the host %s, want %s", c.host, c.result, got, c.want)
		}
	}
}

// Proves S28: crush ends the turn on exit status 49, together with the denial.
func TestCrushHalts(t *testing.T) {
	h := host(t, "crush")
	o := hook.Options{Open: opener(t, program(t, contract), h, gate.WithStore(new(ports.Store)))}
	const started = `{"version":1,"decision":"deny","halt":true,"reason":"stopgate: `
	for range 8 {
		r := ask(t, h, o, event("crush", "no", `{}`))
		if r.Exit == 49 && strings.HasPrefix(string(r.Stdout), started) && len(r.Stderr) > 0 {
			return
		}
		if r.Exit != 2 {
			t.Fatalf("%+v", r)
		}
	}
	t.Error("the turn goes on after eight denials")
}

// Proves S22: the directory of a session, in every form of a host.
func TestDirectories(t *testing.T) {
	for _, c := range []struct{ host, input, want string }{
		{"claude-code", event("claude-code", "free", `{}`), "/srv/proj"},
		{"codex", event("codex", "free", `{}`), "/srv/proj"},
		{"gemini-cli", event("gemini-cli", "free", `{}`), "/srv/proj"},
		{"copilot-cli", event("copilot-cli", "free", `{}`), "/srv/proj"},
		{"cursor", `{"conversation_id":"s1","hook_event_name":"preToolUse","workspace_roots":["/a","/b"],"tool_name":"free","tool_input":{},"cwd":"/b/x"}`, "/b/x"},
		{"cursor", `{"conversation_id":"s1","hook_event_name":"beforeReadFile","workspace_roots":["/a","/b"],"file_path":"/b/x","content":""}`, "/a"},
		{"cursor", `{"conversation_id":"s1","hook_event_name":"beforeMCPExecution","workspace_roots":[],"tool_name":"free","tool_input":"{}"}`, ""},
		{"cursor", `{"conversation_id":"s1","hook_event_name":"beforeMCPExecution","workspace_roots":[7,"x","file:///a"],"tool_name":"free","tool_input":"{}"}`, ""},
		{"cline", event("cline", "free", `{}`), "/srv/proj"},
		{"crush", event("crush", "free", `{}`), "/srv/proj"},
		{"generic", event("generic", "free", `{}`), ""},
	} {
		h, dir := host(t, c.host), "not opened"
		open := opener(t, program(t, contract), h)
		ask(t, h, hook.Options{Open: func(ctx context.Context, e *hook.Event) (*hook.Backend, error) {
			dir = e.Dir
			return open(ctx, e)
		}}, c.input)
		if dir != c.want {
			t.Errorf("%s: %s: in %q, want %q", c.host, c.input, dir, c.want)
		}
	}
}

// permission returns the event of Codex before it asks its user.
func permission(tool, args string) string {
	return fmt.Sprintf(`{"session_id":"s1","turn_id":"t1","transcript_path":null,"cwd":"/srv/proj","hook_event_name":"PermissionRequest","model":"m","permission_mode":"default","tool_name":%q,"tool_input":%s}`, tool, args)
}

// Proves FM9: events that the adapters do not handle are denied if they are about a tool, and
// ignored otherwise.
func TestEventsThatAreNotInstalled(t *testing.T) {
	for _, c := range []struct {
		host, input string
		exit        int
	}{
		{"claude-code", `{"session_id":"s1","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"},"permission_suggestions":[]}`, 2},
		{"codex", `{"session_id":"s1","hook_event_name":"PermissionRequest","tool_name":"NetworkAccess","tool_input":{"command":"x","description":null}}`, 2},
		{"claude-code", `{"session_id":"s1","hook_event_name":"ToolWillRun","call":{"name":"Bash","args":{"command":"ls"}}}`, 2},
		{"claude-code", `{"session_id":"s1","hook_event_name":"pretooluse","call":{"name":"Bash"}}`, 2},
		{"claude-code", `{"session_id":"s1","hook_event_name":"stop sessionend"}`, 2},
		{"claude-code", `{"session_id":"s1","hook_event_name":"pre_compact"}`, 0},
		{"crush", `{"event":"PreCompact","session_id":"s1","cwd":"/srv/proj","tool_name":"compact","tool_input":{"token_count":1}}`, 2},
		{"pi", `{"event":"tool_will_run","name_of_tool":"bash"}`, 2},
		{"claude-code", `{"session_id":"s1","hook_event_name":"SessionStart","source":"startup"}`, 0},
		{"claude-code", `{"session_id":"s1","hook_event_name":"Elicitation","mcp_server_name":"x"}`, 0},
		{"codex", `{"session_id":"s1","hook_event_name":"SubagentStop"}`, 0},
		{"gemini-cli", `{"session_id":"s1","hook_event_name":"AfterModel","llm_request":{},"llm_response":{}}`, 0},
		{"gemini-cli", `{"session_id":"s1","hook_event_name":"Notification","notification_type":"ToolPermission","details":{}}`, 0},
		{"cursor", `{"conversation_id":"s1","hook_event_name":"stop","status":"completed"}`, 0},
		{"cursor", `{"conversation_id":"s1","hook_event_name":"afterFileEdit","file_path":"/srv/proj/x","edits":[]}`, 0},
	} {
		if got := answers(t, c.host, contract, hook.Options{}, c.input); got.exit != c.exit || c.exit == 0 && got.stdout+got.stderr != "" {
			t.Errorf("%s: %s: %+v", c.host, c.input, got)
		}
	}
}

// Proves FM9: an additional member of an event hides neither its command nor arguments under
// another spelling.
func TestFurtherMembers(t *testing.T) {
	for _, c := range []struct{ host, input string }{
		{"cursor", `{"conversation_id":"s1","hook_event_name":"beforeShellExecution","tool_name":"free","tool_input":{},"command":"rm -rf /","cwd":"/srv/proj"}`},
		{"cursor", `{"conversation_id":"s1","hook_event_name":"beforeReadFile","tool_name":"free","file_path":"/srv/proj/x","content":""}`},
		{"copilot-cli", `{"sessionId":"s1","cwd":"/srv/proj","prompt":"hi","tool_name":"bash","tool_input":{"command":"rm -rf /"}}`},
		{"generic", `{"tool":"Shell","tool_input":null,"args":{"command":"rm -rf /"}}`},
		{"generic", `{"tool_name":null,"tool":"Shell","args":{"command":"rm -rf /"}}`},
	} {
		h := host(t, c.host)
		r := ask(t, h, hook.Options{Open: opener(t, program(t, contract), h)}, c.input)
		if got := hostDoes(c.host, r); got != blocks {
			t.Errorf("%s: %s: the host %s", c.host, c.input, got)
		}
	}
}

// Proves S51: the limitations of a host include that it cannot ask, cannot change input or cannot
// withhold results, so that doctor reports them.
func TestLimitationsAreDocumented(t *testing.T) {
	about := map[string][]string{
		"claude-code": {"another hook", "timeout", "other settings", "failed"},
		"codex":       {"another hook", "crashes", "timeout", "trusted", "no PreToolUse event", "cannot make Codex ask"},
		"gemini-cli":  {"another hook", "crashes", "invalid JSON", "timeout", "cannot make Gemini CLI ask", "merged"},
		"copilot-cli": {"another hook", "always runs", "cloud agent", ".claude/settings.json", "VS Code"},
		"cursor":      {"failClosed", "reading files", "subagentStart", "cloud agents", ".claude/settings.json", "ask works", "cannot be withheld"},
		"qwen-code":   {"crashes", "timeout", "need an approval", "cannot be withheld"},
		"crush":       {"run no hook", "another hook", "crashes", "timeout", "cannot make crush ask", "cannot be withheld", "depend on results"},
		"cline":       {"crashes", "timeout", "need an approval", "cannot be withheld", "ends the run", "search_codebase"},
		"opencode":    {"another extension", "need an approval", "failed"},
		"kilo":        {"another extension", "need an approval", "failed", "--pure"},
		"pi":          {"another extension", "need an approval", "runs after this one"},
		"generic":     {"crashes", "timeout", "need an approval", "cannot be withheld"},
	}
	for _, name := range hook.Names() {
		all := strings.Join(host(t, name).Limitations, "\n")
		for _, part := range append(about[name], "") {
			if !strings.Contains(all, part) || len(about[name]) == 0 {
				t.Errorf("%s does not say %q:\n%s", name, part, all)
			}
		}
	}
}
