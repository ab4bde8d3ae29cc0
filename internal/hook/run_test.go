package hook_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// rules permit reading files and writing those of src, ask about make, and deny the rest; secrets
// are guarded.
const rules = `
version = 1
[tools."*".policy]
run = "deny"
[tools.Read]
also = ["read_file", "read", "view"]
policy.run = "unattended"
[tools.Shell]
also = ["Bash", "bash", "run_shell_command"]
parameters.command = { type = "command" }
policy.run = [
  { arg = "/command", prefix = "ls", mode = "unattended" },
  { arg = "/command", prefix = "make", mode = "ask" },
  { mode = "deny" },
]
[tools.Write]
parameters.file_path = { type = "path" }
parameters.content = { type = "string" }
policy.run = [ { arg = "/file_path", prefix = "src/", mode = "unattended" }, { mode = "deny" } ]
[tools.github__issue]
policy.run = "unattended"
[tools.apply_patch]
policy.run = "unattended"
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
reason = "secrets stay out of reach"
`

func program(t testing.TB, text string) *policy.Program {
	t.Helper()
	p, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true}},
		policy.Options{Root: "/srv/proj", Home: "/home/u", UnknownTool: stopgate.Ask, Known: knowntools.Recognise})
	if mistakes.HasErrors() {
		t.Fatal(mistakes)
	}
	return p
}

// opener returns a function that opens gates of one program.
func opener(t testing.TB, p *policy.Program, host *hook.Host, more ...gate.Option) func(context.Context, *hook.Event) (*hook.Backend, error) {
	return func(_ context.Context, e *hook.Event) (*hook.Backend, error) {
		a := host.Approver(e, nil)
		options := append([]gate.Option{gate.WithApprover(a), gate.WithDenyMode(gate.DenyToolResult)}, more...)
		g, err := gate.New(p, options...)
		return &hook.Backend{Gate: g, Approver: a, ObservesResults: true}, err
	}
}

func host(t testing.TB, name string) *hook.Host {
	t.Helper()
	h, err := hook.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// before has the event of each host before a tool runs, as documented, without tool and arguments.
var before = map[string]string{
	"claude-code": `{"session_id":"s1","transcript_path":"/t.jsonl","cwd":"/srv/proj","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":%q,"tool_input":%s,"tool_use_id":"toolu_1"}`,
	"codex":       `{"session_id":"s1","turn_id":"t1","transcript_path":null,"cwd":"/srv/proj","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":%q,"tool_input":%s,"tool_use_id":"call_1"}`,
	"gemini-cli":  `{"session_id":"s1","transcript_path":"/t.json","cwd":"/srv/proj","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","tool_name":%q,"tool_input":%s}`,
	"qwen-code":   `{"session_id":"s1","transcript_path":"/t.json","cwd":"/srv/proj","hook_event_name":"PreToolUse","timestamp":"2026-01-01T00:00:00Z","tool_name":%q,"tool_input":%s,"tool_use_id":"call_1"}`,
	"cursor":      `{"conversation_id":"s1","generation_id":"g1","model":"m","hook_event_name":"preToolUse","cursor_version":"2","workspace_roots":["/srv/proj"],"tool_name":%q,"tool_input":%s,"tool_use_id":"u1","cwd":"/srv/proj"}`,
	"copilot-cli": `{"sessionId":"s1","timestamp":1700000000000,"cwd":"/srv/proj","toolName":%q,"toolArgs":%s}`,
	"crush":       `{"event":"PreToolUse","session_id":"s1","cwd":"/srv/proj","tool_name":%q,"tool_input":%s}`,
	"cline":       `{"clineVersion":"3","hookName":"PreToolUse","taskId":"s1","workspaceRoots":["/srv/proj"],"preToolUse":{"toolName":%q,"parameters":%s}}`,
	"pi":          `{"event":"tool_call","session_id":"s1","cwd":"/srv/proj","tool":%q,"args":%s,"id":"c1"}`,
	"opencode":    `{"event":"tool_call","session_id":"s1","cwd":"/srv/proj","tool":%q,"args":%s,"id":"c1"}`,
	"kilo":        `{"event":"tool_call","session_id":"s1","cwd":"/srv/proj","tool":%q,"args":%s,"id":"c1"}`,
	"generic":     `{"tool":%q,"args":%s}`,
}

func event(host, tool, args string) string { return fmt.Sprintf(before[host], tool, args) }

func ask(t testing.TB, h *hook.Host, o hook.Options, input string) hook.Reply {
	t.Helper()
	return h.Run(t.Context(), o, strings.NewReader(input))
}

// Proves S32, S33, FM9, K0j: the reply of every host to a permitted, an asked and a denied call.
func TestEveryHost(t *testing.T) {
	p := program(t, rules)
	for _, name := range hook.Names() {
		h := host(t, name)
		shell := map[bool]string{true: "Bash", false: "Shell"}[name == "claude-code" || name == "codex"]
		asked := blocks
		if name == "claude-code" || name == "copilot-cli" || name == "qwen-code" {
			asked = asks
		}
		for _, c := range []struct{ action, tool, args, want string }{
			{"allowed", "Read", `{"file_path":"src/a.go"}`, runs},
			{"allowed command", shell, `{"command":"ls -l"}`, runs},
			{"asked", shell, `{"command":"make"}`, asked},
			{"denied", shell, `{"command":"rm -rf /"}`, blocks},
			{"guarded", "Read", `{"file_path":"/srv/proj/.env"}`, blocks},
			{"guarded command", shell, `{"command":"cat .env"}`, blocks},
			{"no such rule", "SomethingNew", `{}`, blocks},
			{"arguments are no object", "Read", `[1]`, blocks},
			{"a key twice", "Read", `{"file_path":"src/a","file_path":".env"}`, blocks},
			{"an unpaired surrogate", "Read", `{"file_path":"\ud800"}`, blocks},
		} {
			t.Run(name+"/"+c.action, func(t *testing.T) {
				r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event(name, c.tool, c.args))
				if got := hostDoes(name, r); got != c.want {
					t.Fatalf("the host %s, want %s\nstdout %s\nstderr %s\nexit %d", got, c.want, r.Stdout, r.Stderr, r.Exit)
				}
			})
		}
	}
}

// Proves S32: without a reply the host's own prompt remains; "allow" is written only if configured.
func TestUnattendedIsSilent(t *testing.T) {
	h := host(t, "claude-code")
	p := program(t, rules)
	input := event("claude-code", "Read", `{"file_path":"src/a.go"}`)
	if r := ask(t, h, hook.Options{Open: opener(t, p, h)}, input); len(r.Stdout) != 0 || r.Exit != 0 || len(r.Stderr) != 0 {
		t.Errorf("said %q %q %d", r.Stdout, r.Stderr, r.Exit)
	}
	r := ask(t, h, hook.Options{Open: opener(t, p, h), Allow: true}, input)
	if want := `"permissionDecision":"allow"`; !strings.Contains(string(r.Stdout), want) || r.Exit != 0 {
		t.Errorf("said %s, want %s", r.Stdout, want)
	}
}

// Proves S32, K4, I8: a path that was cleaned runs cleaned, or not at all.
func TestCleanedPaths(t *testing.T) {
	p := program(t, rules)
	for _, c := range []struct{ host, want, input string }{
		{"claude-code", asks, `"updatedInput":{"file_path":"src/a.go","content":"x"}`},
		{"codex", runs, `"updatedInput":{"file_path":"src/a.go","content":"x"}`},
		{"gemini-cli", runs, `"tool_input":{"file_path":"src/a.go","content":"x"}`},
		{"generic", blocks, ""},
		{"cursor", blocks, ""},
	} {
		h := host(t, c.host)
		r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event(c.host, "Write", `{"file_path":"src/../src/./a.go","content":"x"}`))
		if got := hostDoes(c.host, r); got != c.want || !strings.Contains(string(r.Stdout), c.input) {
			t.Errorf("%s: the host %s, want %s with %s\n%s", c.host, got, c.want, c.input, r.Stdout)
		}
	}
}

// Proves S39: a tool of an MCP server has one name.
func TestNamesOfMCPTools(t *testing.T) {
	p := program(t, rules)
	for _, c := range []struct{ host, input string }{
		{"claude-code", event("claude-code", "mcp__github__issue", `{}`)},
		{"codex", event("codex", "mcp__github__issue", `{}`)},
		{"crush", event("crush", "mcp_github_issue", `{}`)},
		{"gemini-cli", `{"hook_event_name":"BeforeTool","tool_name":"mcp_github_issue","tool_input":{},"mcp_context":{"server_name":"github","tool_name":"issue"}}`},
	} {
		h := host(t, c.host)
		if got := hostDoes(c.host, ask(t, h, hook.Options{Open: opener(t, p, h)}, c.input)); got != runs {
			t.Errorf("%s: the host %s", c.host, got)
		}
	}
}

// Proves S40: guards on paths evaluate the files of a patch, and a patch that cannot be parsed does
// not run.
func TestPatches(t *testing.T) {
	p := program(t, rules)
	h := host(t, "codex")
	for _, c := range []struct{ name, patch, want string }{
		{"harmless", `*** Begin Patch\n*** Update File: src/a.go\n@@\n-a\n+b\n*** End Patch`, runs},
		{"two files", `*** Begin Patch\n*** Add File: src/a.go\n+b\n*** Update File: .env\n@@\n-a\n+b\n*** End Patch`, blocks},
		{"moved", `*** Begin Patch\n*** Update File: src/a.go\n*** Move to: .env\n@@\n-a\n+b\n*** End Patch`, blocks},
		{"deleted", `*** Begin Patch\n*** Delete File: /srv/proj/.env\n*** End Patch`, blocks},
		{"text of a file that looks like a header", `*** Begin Patch\n*** Add File: src/a.go\n+*** Add File: .env\n*** End Patch`, runs},
		{"indented header", `*** Begin Patch\n*** Update File: src/a.go\n@@\n *** Add File: .env\n+b\n*** End Patch`, blocks},
		{"no patch", `rm -rf /`, blocks},
		{"no end", `*** Begin Patch\n*** Add File: src/a.go\n+b`, blocks},
		{"no file", `*** Begin Patch\n+b\n*** End Patch`, blocks},
		{"unknown header", `*** Begin Patch\n*** Add File: src/a\n*** Copy to: .env\n*** End Patch`, blocks},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event("codex", "apply_patch", `{"command":"`+c.patch+`"}`))
			if got := hostDoes("codex", r); got != c.want {
				t.Fatalf("the host %s, want %s\n%s", got, c.want, r.Stdout)
			}
		})
	}
	r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event("codex", "apply_patch",
		`{"command":"*** Begin Patch\n*** Delete File: .env\n*** End Patch","patch_paths":["src/a"]}`))
	if got := hostDoes("codex", r); got != blocks {
		t.Errorf("a call that brings its own list: the host %s", got)
	}
}

// Proves S40: the words that Codex passes to its shell are one command for guards and the protected
// list, also without a table of the tool.
func TestVectors(t *testing.T) {
	p := program(t, `version = 1
[tools.shell.policy]
run = [ { arg = "/command", prefix = "ls", mode = "unattended" }, { mode = "unattended" } ]
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
[[guard]]
on = "command"
prefix = "rm"
mode = "deny"
`)
	h := host(t, "codex")
	for input, want := range map[string]string{
		`{"command":["ls","-l"]}`:                    runs,
		`{"command":["cat","src/.env"]}`:             blocks,
		`{"command":["bash","-lc","cat src/.env"]}`:  blocks,
		`{"command":["bash","-lc","ls && rm -r x"]}`: blocks,
		`{"command":["sudo","rm","x"]}`:              blocks,
		`{"command":"ls && rm x"}`:                   blocks,
		`{"command":"ls -l"}`:                        runs,
	} {
		if got := hostDoes("codex", ask(t, h, hook.Options{Open: opener(t, p, h)}, event("codex", "shell", input))); got != want {
			t.Errorf("%s: the host %s, want %s", input, got, want)
		}
	}
}

// Proves FM9, I14: an event without a decision in time is denied in time.
func TestDeadline(t *testing.T) {
	for _, name := range hook.Names() {
		h := host(t, name)
		stuck := func(ctx context.Context, _ *hook.Event) (*hook.Backend, error) {
			<-make(chan struct{})
			return nil, nil
		}
		began := time.Now()
		r := ask(t, h, hook.Options{Open: stuck, Deadline: 20 * time.Millisecond}, event(name, "Read", `{"file_path":"src/a"}`))
		if got := hostDoes(name, r); got != blocks || time.Since(began) > 10*time.Second {
			t.Errorf("%s: the host %s after %v", name, got, time.Since(began))
		}
	}
}

// Proves S31: observe mode gives no instructions, also if everything fails.
func TestObserveIsSilent(t *testing.T) {
	for _, name := range hook.Names() {
		h := host(t, name)
		for _, input := range []string{"{bad", event(name, "Shell", `{"command":"rm -rf /"}`)} {
			r := ask(t, h, hook.Options{Open: opener(t, program(t, rules), h), ObserveOnly: true}, input)
			if got := hostDoes(name, r); got != runs {
				t.Errorf("%s: the host %s", name, got)
			}
		}
	}
}

// Proves S44, TPS-39: an ask that is left to the host's prompt does not run the call and is no
// approval.
func TestReferredAskIsNoApproval(t *testing.T) {
	h := host(t, "claude-code")
	store, rows := new(ports.Store), new(ports.Recorder)
	p := program(t, rules+`
[tools.deploy]
policy.run = "unattended"
[[session]]
type = "require"
before = "deploy"
approvals = ["Shell"]
`)
	open := opener(t, p, h, gate.WithStore(store), gate.WithRecorder(rows))
	if got := hostDoes(h.Name, ask(t, h, hook.Options{Open: open}, event(h.Name, "Shell", `{"command":"make"}`))); got != asks {
		t.Fatalf("the host %s", got)
	}
	row := rows.Decisions()[0]
	if row.Approval == nil || !row.Approval.Referred {
		t.Errorf("the row says %+v", row.Approval)
	}
	if got := hostDoes(h.Name, ask(t, h, hook.Options{Open: open}, event(h.Name, "deploy", `{}`))); got != blocks {
		t.Errorf("after a referred ask the host %s", got)
	}
}

// Proves S44, K37: in a prompt the host's user reads the rule's reason, and for a rule without one
// its location.
func TestReferredAskNamesRule(t *testing.T) {
	h := host(t, "claude-code")
	for _, c := range []struct{ rule, want string }{
		{`run = "ask"`, "The policy asks before this call runs (rule at p.toml:3)."},
		{`run = [{ mode = "ask", reason = "deploys are looked at" }]`, "deploys are looked at"},
	} {
		p := program(t, "version = 1\n[tools.deploy.policy]\n"+c.rule+"\n")
		r := ask(t, h, hook.Options{Open: opener(t, p, h)}, event(h.Name, "deploy", `{}`))
		if hostDoes(h.Name, r) != asks || !strings.Contains(string(r.Stdout), c.want) {
			t.Errorf("%s: %s", c.rule, r.Stdout)
		}
	}
}

// Proves S28: after too many denials the turn is stopped in the host's own form.
func TestDenialLimit(t *testing.T) {
	p := program(t, rules)
	for name, want := range map[string]string{"claude-code": `"continue":false`, "gemini-cli": `"continue":false`, "crush": `"halt":true`} {
		h := host(t, name)
		open := opener(t, p, h, gate.WithStore(new(ports.Store)))
		var r hook.Reply
		for range 6 {
			r = ask(t, h, hook.Options{Open: open}, event(name, "Shell", `{"command":"rm -rf /"}`))
		}
		if !strings.Contains(string(r.Stdout), want) || hostDoes(name, r) != blocks {
			t.Errorf("%s: %s %d", name, r.Stdout, r.Exit)
		}
	}
}

// Proves X13, K32, TPS-06: results become facts, and a withheld result does not reach the model.
func TestResults(t *testing.T) {
	h := host(t, "claude-code")
	p := program(t, `
version = 1
[tools.Read]
policy.run = "unattended"
policy.result = [ { arg = "/file_path", prefix = "private/", mode = "skip" }, { mode = "unattended" } ]
[tools.Write]
policy.run = "unattended"
[[session]]
type = "read_before_write"
read_tools = ["Read"]
write_tools = ["Write"]
key = "/file_path"
`)
	open := opener(t, p, h, gate.WithStore(new(ports.Store)))
	o := hook.Options{Open: open}
	write := event(h.Name, "Write", `{"file_path":"src/a","content":"x"}`)
	if got := hostDoes(h.Name, ask(t, h, o, write)); got != blocks {
		t.Fatalf("writing unread: the host %s", got)
	}
	after := func(tool, args string) string {
		e := strings.Replace(event(h.Name, tool, args), `"PreToolUse"`, `"PostToolUse"`, 1)
		return strings.TrimSuffix(e, "}") + `,"tool_response":{"text":"the words"},"duration_ms":3}`
	}
	ask(t, h, o, event(h.Name, "Read", `{"file_path":"src/a"}`))
	if r := ask(t, h, o, after("Read", `{"file_path":"src/a"}`)); len(r.Stdout) != 0 {
		t.Errorf("a result that may be shown: %s", r.Stdout)
	}
	if got := hostDoes(h.Name, ask(t, h, o, write)); got != runs {
		t.Errorf("writing what was read: the host %s", got)
	}
	ask(t, h, o, event(h.Name, "Read", `{"file_path":"private/a"}`))
	r := ask(t, h, o, after("Read", `{"file_path":"private/a"}`))
	if !strings.Contains(string(r.Stdout), `"decision":"block"`) || !strings.Contains(string(r.Stdout), "updatedToolOutput") || strings.Contains(string(r.Stdout), "the words") {
		t.Errorf("a withheld result: %s", r.Stdout)
	}
	if r := ask(t, h, o, after("Read", `{"file_path":"never/asked"}`)); !strings.Contains(string(r.Stdout), `"decision":"block"`) {
		t.Errorf("a result of no call: %s", r.Stdout)
	}
}

// Proves S28: prompts, and events that are not about a tool, are never blocked.
func TestOtherEvents(t *testing.T) {
	h := host(t, "claude-code")
	open := opener(t, program(t, rules), h, gate.WithStore(new(ports.Store)))
	for _, input := range []string{
		`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"hello"}`,
		`{"session_id":"s","hook_event_name":"Stop"}`,
	} {
		if r := ask(t, h, hook.Options{Open: open}, input); len(r.Stdout) != 0 || r.Exit != 0 {
			t.Errorf("%s: %s %d", input, r.Stdout, r.Exit)
		}
	}
	for _, input := range []string{`{"hook_event_name":"PreToolUse2","tool_name":"Read","tool_input":{}}`, `{}`, `{"tool_name":"Read"}`, ``} {
		if got := hostDoes(h.Name, ask(t, h, hook.Options{Open: open}, input)); got != blocks {
			t.Errorf("%q: the host %s", input, got)
		}
	}
}

// Proves K0a, S33, S40: guards evaluate the paths of unknown tools, and such a tool is not denied
// for its other arguments.
func TestGuardsSeeUnknownTools(t *testing.T) {
	h := host(t, "claude-code")
	open := opener(t, program(t, rules), h)
	for args, want := range map[string]string{
		`{"title":"x","labels":[1,{"a":2}]}`: runs,
		`{"path":".env"}`:                    blocks,
		`{"paths":["a","x/.env.local"]}`:     blocks,
		`{"source":{"kind":"web"},"n":1}`:    runs,
		`{"command":"cat .env"}`:             blocks,
	} {
		if got := hostDoes(h.Name, ask(t, h, hook.Options{Open: open}, event(h.Name, "mcp__github__issue", args))); got != want {
			t.Errorf("%s: the host %s, want %s", args, got, want)
		}
	}
}
