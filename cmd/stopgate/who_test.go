package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// whoFile is a policy under which leads answer, and nobody else.
const whoFile = `version = 1
[tools.deploy.policy]
run = "ask"
[tools.write_file.policy]
run = "ask"
[tools.fs_create_file.policy]
run = "ask"
[mcp]
elicitation = true
[approvals]
who = [{ group = "leads" }]
absent = "defer"
[api]
listen = "127.0.0.1:0"
[api.tokens.lead]
scopes = ["approve"]
groups = ["leads"]
env = "WHO_LEAD"
[api.tokens.guest]
scopes = ["approve"]
groups = ["guests"]
env = "WHO_GUEST"
`

const (
	whoLead  = "lead-0123456789abcdef"
	whoGuest = "guest-0123456789abcdef"
)

// answers is a gate whose decision API takes the answers to the questions of a directory.
type answers struct {
	t   *testing.T
	dir string
	api string
}

func takeAnswers(t *testing.T, dir string) answers {
	t.Helper()
	t.Setenv("WHO_LEAD", whoLead)
	t.Setenv("WHO_GUEST", whoGuest)
	writeIn(t, dir, "p.toml", whoFile)
	return answers{t, dir, startUp(t, dir, "--policy", "p.toml").api}
}

// question waits for the question about a tool and returns its id.
func (a answers) question(tool string) (id string) {
	a.t.Helper()
	until(a.t, "a question about "+tool, func() bool {
		r, _ := http.NewRequest("GET", a.api+"/v1/approvals?state=waiting", nil)
		r.Header.Set("Authorization", "Bearer "+whoLead)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			a.t.Fatal(err)
		}
		defer resp.Body.Close()
		var list struct{ Approvals []struct{ ID, Tool string } }
		if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
			a.t.Fatal(err)
		}
		for _, q := range list.Approvals {
			if q.Tool == tool {
				id = q.ID
			}
		}
		return id != ""
	})
	return id
}

// onlyLeads has a question approved by a guest and by the lead: only the answer of the lead counts.
func (a answers) onlyLeads(id string) {
	a.t.Helper()
	if status, text := sent(a.t, a.api+"/v1/approvals/"+id, `{"answer":"approve"}`, bearer(whoGuest)); status != http.StatusForbidden {
		a.t.Errorf("a guest approves: %d %s", status, text)
	}
	if status, text := sent(a.t, a.api+"/v1/approvals/"+id, `{"answer":"approve"}`, bearer(whoLead)); status != http.StatusOK {
		a.t.Errorf("the lead may not approve: %d %s", status, text)
	}
}

// Proves S47, S70: where files name who approves, a hook leaves no question to the prompt of its coding agent.
func TestWhoApprovesForHooks(t *testing.T) {
	dir := t.TempDir()
	a := takeAnswers(t, dir)
	calls := 0
	hook := func() string {
		calls++
		cmd := exec.Command("stopgate", "hook", "claude-code", "--policy", filepath.Join(dir, "p.toml"))
		cmd.Dir, cmd.Env = dir, atHome(dir)
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"deploy","tool_input":{"n":1},"tool_use_id":"t%d"}`, dir, calls))
		out, _ := cmd.CombinedOutput() // a denial is exit status 2
		return string(out)
	}
	first := hook()
	if !strings.Contains(first, `"deny"`) {
		t.Errorf("the first call: %s", first)
	}
	a.onlyLeads(a.question("deploy"))
	if again := hook(); !strings.Contains(again, `"allow"`) {
		t.Errorf("after the approval: %s", again)
	}
	if third := hook(); strings.Contains(third, `"allow"`) {
		t.Errorf("an approval releases two calls: %s", third)
	}
}

// Likewise the client of an MCP server is not asked, although it can ask its user.
func TestWhoApprovesForMCP(t *testing.T) {
	dir := t.TempDir()
	a := takeAnswers(t, dir)
	c := startMCP(t, dir, "--policy", filepath.Join(dir, "p.toml"), "--", "fake-mcp-server")
	if got := c.ask(strings.Replace(mcpHello, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)); !strings.Contains(got, `"fake"`) {
		t.Fatal(got)
	}
	answer := make(chan string, 1)
	go func() { answer <- c.ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + writeCall) }()
	a.onlyLeads(a.question("write_file"))
	if got := <-answer; strings.Contains(got, "elicitation/create") {
		t.Errorf("the client is asked: %s", got)
	} else if !strings.Contains(got, "token t0") {
		contains(t, c.ask(strings.Replace(writeCall, `"id":1`, `"id":2`, 1)), "token t0")
	}
}

// Likewise the person at the terminal agent.
func TestWhoApprovesForTheAgent(t *testing.T) {
	dir, env := agentHome(t, map[string]string{"script": thrice})
	a := takeAnswers(t, dir)
	s := sitDown(t, dir, append(env, "HOME="+dir), nil, "--script", "script", "--pace", "0", "--policy", "p.toml")
	s.sees("(?m)^>$")
	s.types("write\r")
	s.sees("is pending; repeat", "First.", "(?m)^>$")
	a.onlyLeads(a.question("fs_create_file"))
	s.types("again\r")
	s.sees("1 ran", "Second.", "(?m)^>$")
	s.types("again\r")
	s.sees("Third.")
	s.leaves()
}
