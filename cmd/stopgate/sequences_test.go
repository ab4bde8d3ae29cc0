package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/cli"
)

// sequencePolicy makes what a call may do depend on the calls before it.
const sequencePolicy = `version = 1
[gate]
denial_limit = 0
[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = "unattended"
[tools."*".parameters]
says = { type = "string" }
path = { type = "string" }
[tools.test]
policy.run = "unattended"
success = { pattern = "^PASS" }
[tools.look]
policy.run = "unattended"
success = { pattern = "^OK" }
[tools.change.policy]
run = "unattended"
[tools.deploy.policy]
run = "unattended"
[tools.pay]
policy.run = "unattended"
success = { pattern = "^PAID" }
[tools.erase.policy]
run = [ { arg = "/path", const = "a", mode = "deny", reason = "Nothing is erased here.", note = "internal: incident 7" }, { mode = "ask" } ]
[[session]]
type = "require"
before = ["deploy"]
requires = ["test"]
invalidated_by = ["change"]
[[session]]
type = "read_before_write"
read_tools = ["look"]
write_tools = ["change"]
key = "/path"
[[session]]
type = "limit"
tools = ["pay"]
max_calls = 2
scope = "session"
`

// madeCall is one call of a sequence and the text of its result, if it runs.
type madeCall struct{ tool, path, says string }

func (c madeCall) args() string { return fmt.Sprintf(`{"path":%q,"says":%q}`, c.path, c.says) }

// madeCalls is a row: the calls of each turn, the code of each in turn, and what the last
// answer says.
var madeCalls = []struct {
	name  string
	turns [][]madeCall
	want  string
	says  string
}{
	{"a prerequisite is missing", [][]madeCall{{deployCall}}, "prerequisite_missing", "Call test first; it must have succeeded"},
	{"a prerequisite succeeded", [][]madeCall{{testCall}, {deployCall}}, "allowed allowed", ""},
	{"a prerequisite failed", [][]madeCall{{failCall}, {deployCall}}, "allowed prerequisite_missing", "Call test first; it must have succeeded"},
	{"a prerequisite is under way", [][]madeCall{{testCall, deployCall}}, "allowed prerequisite_pending", "wait for its result"},
	{"a change takes the success back", [][]madeCall{{testCall}, {lookCall}, {changeCall}, {deployCall}}, "allowed allowed allowed prerequisite_missing", "Call test first; it must have succeeded"},
	{"a file is changed unread", [][]madeCall{{changeCall}}, "read_required", "Read this file first, with look"},
	{"a file is read and changed at once", [][]madeCall{{lookCall, changeCall}}, "allowed prerequisite_pending", "wait for its result"},
	{"a limit is reached", [][]madeCall{{payCall}, {payCall}, {payCall}}, "allowed allowed session_policy_denied", ""},
	{"a rule denies", [][]madeCall{{eraseCall}}, "rule_matched", "Nothing is erased here"},
	{"a rule denies beside a call that runs", [][]madeCall{{testCall, eraseCall}}, "allowed rule_matched", "Nothing is erased here"},
}

var (
	testCall   = madeCall{"test", "all", "PASS"}
	failCall   = madeCall{"test", "all", "FAIL"}
	deployCall = madeCall{"deploy", "all", "done"}
	lookCall   = madeCall{"look", "a", "OK"}
	changeCall = madeCall{"change", "a", "OK"}
	payCall    = madeCall{"pay", "a", "PAID"}
	eraseCall  = madeCall{"erase", "a", "gone"}
)

// player plays the calls of a session and returns what was said of the last turn.
type player func(t *testing.T, session string, turns [][]madeCall) (said string)

// Proves X9, X14: the same sequence of calls has the same codes and the same sentences in every
// process of the built program: the hooks of a host, the gateway before an MCP server, the decision
// API and the gateway before a model. No model reads a note of an operator, or where a rule is.
func TestProcessesAgreeOnSequences(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, dir string) player{
		"hook": hookPlayer, "mcp": mcpPlayer, "api": apiPlayer, "gateway": gatewayPlayer,
	} {
		dir := t.TempDir() // of the whole test: paths of sockets are short
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			writeIn(t, dir, "p.toml", sequencePolicy)
			play := start(t, dir)
			for n, row := range madeCalls {
				session := fmt.Sprint("s", n)
				said := play(t, session, row.turns)
				if got := sequenceCodes(t, filepath.Join(dir, "rows.jsonl"), session, row.turns); got != row.want {
					t.Errorf("%s: codes %q, want %q\n%s", row.name, got, row.want, said)
				}
				if !strings.Contains(said, row.says) {
					t.Errorf("%s: %q is not said: %s", row.name, row.says, said)
				}
				if strings.Contains(said, "incident 7") || name != "api" && strings.Contains(said, "p.toml") {
					t.Errorf("%s: the model reads what is for operators: %s", row.name, said)
				}
			}
		})
	}
}

// sequenceCodes are the codes of the decisions on record for a session, in the order of the
// sequence.
func sequenceCodes(t *testing.T, audit, session string, turns [][]madeCall) string {
	t.Helper()
	text, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	type decision struct{ Kind, Session, Tool, Status, Code string }
	var rows []decision
	for line := range strings.Lines(string(text)) {
		var row decision
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.Kind == "decision" && strings.TrimPrefix(row.Session, "claude-code:") == session {
			rows = append(rows, row)
		}
	}
	var codes []string
	for _, turn := range turns {
		for _, c := range turn {
			// Within a turn a denial can be recorded before a release.
			switch i := slices.IndexFunc(rows, func(r decision) bool { return r.Tool == c.tool }); {
			case i < 0:
				codes = append(codes, "none")
			case rows[i].Status == "allowed":
				codes, rows = append(codes, "allowed"), slices.Delete(rows, i, i+1)
			default:
				codes, rows = append(codes, rows[i].Code), slices.Delete(rows, i, i+1)
			}
		}
	}
	for _, r := range rows {
		codes = append(codes, "and "+r.Tool+" "+r.Code)
	}
	return strings.Join(codes, " ")
}

func hookPlayer(_ *testing.T, dir string) player {
	return func(t *testing.T, session string, turns [][]madeCall) (said string) {
		hook := func(event, id string, c madeCall, more string) (exit int, out string) {
			cmd := exec.Command("stopgate", "hook", "claude-code", "--policy", "p.toml")
			cmd.Dir, cmd.Env = dir, atHome(dir)
			cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q,"tool_name":%q,"tool_input":%s,"tool_use_id":%q,"permission_mode":"default"%s}`,
				session, dir, event, c.tool, c.args(), id, more))
			text, _ := cmd.CombinedOutput()
			return cmd.ProcessState.ExitCode(), string(text)
		}
		for i, turn := range turns {
			var ran []int
			said = ""
			for n, c := range turn {
				exit, out := hook("PreToolUse", fmt.Sprint("toolu_", i, "_", n), c, "")
				if said += out; exit == cli.ExitOK && !strings.Contains(out, `"deny"`) {
					ran = append(ran, n)
				}
			}
			if i+1 == len(turns) {
				break // nothing depends on the results
			}
			for _, n := range ran {
				if exit, out := hook("PostToolUse", fmt.Sprint("toolu_", i, "_", n), turn[n], fmt.Sprintf(`,"tool_response":%q`, turn[n].says)); exit != cli.ExitOK {
					t.Errorf("result of %s: exit %d: %s", turn[n].tool, exit, out)
				}
			}
		}
		exit, rows := stopgateIn(dir, "log", "export")
		if exit != cli.ExitOK {
			t.Fatalf("exit %d: %s", exit, rows)
		}
		writeIn(t, dir, "rows.jsonl", rows)
		return said
	}
}

func mcpPlayer(t *testing.T, dir string) player {
	var list []string
	for _, name := range []string{"test", "look", "change", "deploy", "pay", "erase"} {
		list = append(list, `{"name":"`+name+`","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"says":{"type":"string"}}}}`)
	}
	writeIn(t, dir, "it.tools.json", "["+strings.Join(list, ",")+"]")
	return func(t *testing.T, session string, turns [][]madeCall) (said string) {
		answers := filepath.Join(dir, session)
		c := startMCPIn(t, dir, session, "--policy", "p.toml", "--audit", "rows.jsonl", "--", "env", "THE_ANSWERS="+answers, "fake-mcp-server", "it.tools.json")
		c.hello()
		call := func(id int, m madeCall) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, m.tool, m.args())
		}
		for i, turn := range turns {
			if len(turn) == 1 {
				writeIn(t, dir, session, "")
				said = c.ask(call(10*i, turn[0]))
				continue
			}
			// The first one is under way until the second one is decided.
			if _, err := io.WriteString(c.in, call(10*i, turn[0])+"\n"); err != nil {
				t.Fatal(err)
			}
			for _, err := os.Stat(answers + ".awaited"); err != nil; _, err = os.Stat(answers + ".awaited") {
				time.Sleep(time.Millisecond)
			}
			said = c.ask(call(10*i+1, turn[1]))
			writeIn(t, dir, session, "")
			if _, err := c.out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		c.end()
		return said
	}
}

func apiPlayer(t *testing.T, dir string) player {
	s := startUp(t, dir, "--policy", "p.toml", "--audit", "rows.jsonl")
	return func(t *testing.T, session string, turns [][]madeCall) (said string) {
		for i, turn := range turns {
			ids := make([]string, len(turn))
			said = ""
			for n, c := range turn {
				_, answer := s.ask(t, "", "POST", "/v1/calls", fmt.Sprintf(`{"tool":%q,"args":%s,"session":%q,"turn":"t%d"}`, c.tool, c.args(), session, i))
				if said += fmt.Sprint(answer); answer["status"] == "allowed" {
					ids[n] = fmt.Sprint(answer["id"])
				}
			}
			for n, id := range ids {
				if id == "" {
					continue
				}
				if status, answer := s.ask(t, "", "POST", "/v1/calls/"+id+"/result", fmt.Sprintf(`{"data":%q}`, turn[n].says)); status/100 != 2 {
					t.Errorf("result of %s: %d %v", turn[n].tool, status, answer)
				}
			}
		}
		return said
	}
}

func gatewayPlayer(t *testing.T, dir string) player {
	model := newBodyModel(t)
	s := startUp(t, dir, append([]string{"--policy", "p.toml", "--audit", "rows.jsonl"}, model.upstreams()...)...)
	var tools []string
	for _, name := range []string{"test", "look", "change", "deploy", "pay", "erase"} {
		tools = append(tools, fmt.Sprintf(`{"type":"function","function":{"name":%q,"parameters":{"type":"object","properties":{"path":{"type":"string"},"says":{"type":"string"}}}}}`, name))
	}
	return func(t *testing.T, session string, turns [][]madeCall) (said string) {
		history := `{"role":"user","content":"go"}`
		for i, turn := range turns {
			var calls []string
			for n, c := range turn {
				calls = append(calls, fmt.Sprintf(`{"id":"%s_%d_%d","type":"function","function":{"name":%q,"arguments":%q}}`, session, i, n, c.tool, c.args()))
			}
			model.body.Store(`{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}}]}`)
			r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/v1/chat/completions", strings.NewReader(fmt.Sprintf(`{"model":"m","messages":[%s],"tools":[%s]}`, history, strings.Join(tools, ","))))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("X-Stopgate-Session", session)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK {
				t.Fatalf("status %d, %v: %s", res.StatusCode, err, answer)
			}
			said = string(answer)
			for n, c := range turn {
				if id := fmt.Sprintf("%s_%d_%d", session, i, n); strings.Contains(said, id) {
					history += `,{"role":"assistant","content":null,"tool_calls":[` + calls[n] + `]},` + fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, c.says)
				}
			}
		}
		return said
	}
}
