package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/jsonstream"
)

// beforeTool is what each host sends before it runs a tool: in a directory, with the tool's
// name and its arguments.
var beforeTool = map[string]string{
	"claude-code": `{"session_id":"s1","transcript_path":"/t.jsonl","cwd":%[1]q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":%[2]q,"tool_input":%[3]s,"tool_use_id":"toolu_1"}`,
	"codex":       `{"session_id":"s1","turn_id":"t1","transcript_path":null,"cwd":%[1]q,"hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":%[2]q,"tool_input":%[3]s,"tool_use_id":"call_1"}`,
	"gemini-cli":  `{"session_id":"s1","transcript_path":"/t.json","cwd":%[1]q,"hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","tool_name":%[2]q,"tool_input":%[3]s}`,
	"qwen-code":   `{"session_id":"s1","transcript_path":"/t.json","cwd":%[1]q,"hook_event_name":"PreToolUse","timestamp":"2026-01-01T00:00:00Z","tool_name":%[2]q,"tool_input":%[3]s,"tool_use_id":"call_1"}`,
	"cursor":      `{"conversation_id":"s1","generation_id":"g1","model":"m","hook_event_name":"preToolUse","cursor_version":"2","workspace_roots":[%[1]q],"tool_name":%[2]q,"tool_input":%[3]s,"tool_use_id":"u1","cwd":%[1]q}`,
	"copilot-cli": `{"sessionId":"s1","timestamp":1700000000000,"cwd":%[1]q,"toolName":%[2]q,"toolArgs":%[3]s}`,
	"crush":       `{"event":"PreToolUse","session_id":"s1","cwd":%[1]q,"tool_name":%[2]q,"tool_input":%[3]s}`,
	"cline":       `{"clineVersion":"3","hookName":"PreToolUse","taskId":"s1","workspaceRoots":[%[1]q],"preToolUse":{"toolName":%[2]q,"parameters":%[3]s}}`,
	"pi":          `{"event":"tool_call","session_id":"s1","cwd":%[1]q,"tool":%[2]q,"args":%[3]s,"id":"c1"}`,
	"opencode":    `{"event":"tool_call","session_id":"s1","cwd":%[1]q,"tool":%[2]q,"args":%[3]s,"id":"c1"}`,
	"kilo":        `{"event":"tool_call","session_id":"s1","cwd":%[1]q,"tool":%[2]q,"args":%[3]s,"id":"c1"}`,
	"generic":     `{"tool":%[2]q,"args":%[3]s}`,
}

// surfaced is how a real surface answered a call: the last decision on record, and all that it
// said to its client.
type surfaced struct {
	Status, Mode, Code string
	Rule               struct{ Line int }
	said               string
}

// lastRow reads the last decision of a file of records; the zero surfaced if there is none.
func lastRow(t *testing.T, path string) (p surfaced) {
	t.Helper()
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return p
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if end, err := f.Seek(0, io.SeekEnd); err != nil {
		t.Fatal(err)
	} else if _, err := f.Seek(max(0, end-1<<14), io.SeekStart); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var row struct {
			Kind string
			surfaced
		}
		if json.Unmarshal([]byte(line), &row) == nil && row.Kind == "decision" {
			p = row.surfaced
		}
	}
	return p
}

// liveIn makes this process work in a new directory with a policy, without anything of
// stopgate's elsewhere.
func liveIn(t *testing.T, policy string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "STOPGATE_SESSION", "CLAUDE_PROJECT_DIR"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	if err := os.MkdirAll("src", 0o700); err != nil {
		t.Fatal(err)
	}
	writeIn(t, dir, "p.toml", policy)
	return dir
}

// throughHook gives a call to the hook of a host.
func throughHook(t *testing.T, dir, host, tool, args string) surfaced {
	t.Helper()
	audit := filepath.Join(dir, "hook.jsonl")
	os.Remove(audit)
	var out, talk strings.Builder
	event := fmt.Sprintf(beforeTool[host], dir, tool, args)
	if host == "generic" {
		event = fmt.Sprintf(`{"tool":%q,"args":%s,"cwd":%q}`, tool, args, dir)
	}
	// A hook sets up its whole process, which here has other tests to run.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer func() {
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, syscall.SIGPIPE) // Reset leaves a signal ignored
		signal.Stop(heard)
	}()
	run([]string{"hook", host, "--policy", "p.toml", "--store", "memory", "--audit", audit}, cli.Streams{In: strings.NewReader(event), Out: &out, Err: &talk})
	p := lastRow(t, audit)
	p.said = out.String() + talk.String()
	return p
}

// liveGateway is a running stopgate up before a model that makes the calls it is told.
type liveGateway struct {
	*server
	audit string
}

func newLiveGateway(t *testing.T, dir string) liveGateway {
	t.Helper()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		root, err := jsonstream.Parse(text, jsonstream.Options{ObjectRoot: true})
		if err != nil {
			t.Error(err)
		}
		call, _ := root.Get("user") // a member that the gateway hands on
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":%s}]}}]}`, call.Text())
	}))
	t.Cleanup(model.Close)
	s := startUp(t, dir, "--policy", "p.toml", "--store", "memory", "--audit", "gateway.jsonl", "--openai-upstream", model.URL+"/v1")
	return liveGateway{s, filepath.Join(dir, "gateway.jsonl")}
}

// calls has the model call a tool that the request declares with a schema.
func (g liveGateway) calls(t *testing.T, tool, args, schema string) surfaced {
	t.Helper()
	function, err := json.Marshal(map[string]string{"name": tool, "arguments": args})
	if err != nil {
		t.Fatal(err)
	}
	user, err := json.Marshal(string(function))
	if err != nil {
		t.Fatal(err)
	}
	status, answer := post(t, g.url+"/v1/chat/completions", fmt.Sprintf(`{"model":"m","user":%s,"messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":%q,"parameters":%s}}]}`, user, tool, schema))
	if status != http.StatusOK {
		t.Fatalf("%s %s: status %d: %s", tool, args, status, answer)
	}
	p := lastRow(t, g.audit)
	p.said = answer
	return p
}

// liveMCP is a running stopgate mcp before a server that has the tools of a list.
type liveMCP struct {
	*mcpClient
	audit string
	id    int
}

func newLiveMCP(t *testing.T, dir, server, tools string) *liveMCP {
	t.Helper()
	list, audit := writeIn(t, dir, server+".tools.json", tools), server+".jsonl"
	c := startMCP(t, dir, "--policy", "p.toml", "--store", "memory", "--audit", audit, "--server", server+"=fake-mcp-server "+list)
	c.hello()
	return &liveMCP{c, filepath.Join(dir, audit), 0}
}

func (m *liveMCP) calls(t *testing.T, tool, args string) surfaced {
	t.Helper()
	m.id++
	answer := m.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, m.id, tool, args))
	p := lastRow(t, m.audit)
	p.said = answer
	return p
}

// decided is what decide answers.
type decided struct {
	Mode, Code, Public, Cause string
	As                        string
	Rule                      struct{ Line int }
	MayDiffer                 []string `json:"may_differ"`
}

func decideHere(t *testing.T, args ...string) (d decided) {
	t.Helper()
	_, out, talk := runCommand(append([]string{"decide", "--policy", "p.toml", "--format", "json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v: %v: %s%s", args, err, out, talk)
	}
	return d
}

// agrees says how the answer of decide differs from that of the surface; "" if it does not.
func (d decided) agrees(p surfaced) string {
	// Within JSON, and without the full stop where a sentence goes on.
	quoted := string(jsonstream.AppendQuote(nil, strings.TrimSuffix(d.Public, ".")))
	quoted = strings.Trim(quoted, `"`)
	told := strings.Contains(p.said, quoted) || strings.Contains(p.said, strings.ReplaceAll(quoted, `"`, `\"`)) || strings.Contains(p.said, strings.TrimSuffix(d.Public, "."))
	unanswered := p.Code == "no_approver" || p.Code == "approval_pending" || p.Code == "approval_timeout"
	switch {
	case d.Code == "envelope_mismatch", d.Code == "protocol_violation":
		if d.Mode == "deny" && told && strings.Contains(p.said, d.Code) {
			return ""
		}
	case d.Mode == "ask" && unanswered:
		return ""
	case d.Mode == "unattended" && d.Code == "policy_not_configured":
		if p.Status == "allowed" && p.Code == d.Code {
			return ""
		}
	case d.Mode == "deny" && strings.Contains(d.Cause, "Unknown tool"):
		if p.Code == d.Code && strings.Contains(p.said, "Unknown tool") {
			return ""
		}
	case d.Code != p.Code, d.Mode != p.Mode, d.Rule != p.Rule:
	case d.Mode == "deny" && (p.Status != "denied" || !told), d.Mode == "ask" && !told, d.Mode == "unattended" && p.Status != "allowed":
	default:
		return ""
	}
	return fmt.Sprintf("decide says %+v, the surface %+v", d, p)
}
