package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/cli"
)

const askPolicy = `version = 1
[tools.fs_create_file]
parameters.path = { type = "path", required = true }
parameters.content = { type = "string", required = true }
policy.run = "ask"

[api.tokens.agent]
scopes = ["decide", "observe"]
env = "AGENT_TOKEN"
[api.tokens.anna]
scopes = ["approve", "operate"]
file = "anna.token"

[approvals]
absent = "defer"
hold = "30s"
`

// newAPI is a running stopgate up with tokens, and a directory of its own.
func newAPI(t *testing.T, args ...string) *server {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"p.toml": askPolicy, "anna.token": "anna-anna-anna-anna\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("AGENT_TOKEN", "agent-agent-agent")
	return startUp(t, dir, append([]string{"--policy", "p.toml", "--api-listen", "127.0.0.1:0"}, args...)...)
}

// ask sends a request to the API; without a token over the socket.
func (s *server) ask(t *testing.T, token, method, path, body string) (status int, answer map[string]any) {
	t.Helper()
	client, at := http.Client{Timeout: 30 * time.Second}, s.api
	if token == "" {
		socket := strings.TrimPrefix(s.socket, "unix://")
		client.Transport, at = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}}, "http://stopgate"
	}
	r, err := http.NewRequestWithContext(t.Context(), method, at+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if json.Unmarshal(text, &answer) != nil {
		answer = map[string]any{"text": string(text)}
	}
	return res.StatusCode, answer
}

const createFile = `{"tool":"fs_create_file","args":{"path":"a","content":"b"},"session":"s"}`

// Proves S59: an order over the API stands in the log of up, as one of the command line
// does, and probes show it without calling it a failure.
func TestUpSaysLockdowns(t *testing.T) {
	s := newAPI(t, "--log-format", "json", "--log-level", "warn")
	probes := func(want bool) {
		t.Helper()
		for _, url := range []string{s.url, s.api} {
			for _, path := range []string{"/healthz", "/readyz"} {
				if status, a := (&server{api: url}).ask(t, "-", "GET", path, ""); status != http.StatusOK || a["lockdown"] != want {
					t.Errorf("%s%s: %d %v", url, path, status, a)
				}
			}
		}
	}
	probes(false)
	if status, a := s.ask(t, "anna-anna-anna-anna", "PUT", "/v1/lockdown", `{"reason":"incident 7"}`); status != http.StatusOK {
		t.Fatal(status, a)
	}
	probes(true)
	if status, a := s.ask(t, "anna-anna-anna-anna", "DELETE", "/v1/lockdown", ""); status != http.StatusOK {
		t.Fatal(status, a)
	}
	probes(false)
	s.stop(t)
	for _, want := range []string{`"LOCKDOWN: every call is denied`, `"by":"anna","reason":"incident 7"`, "the lockdown is lifted"} {
		if n := strings.Count(s.stderr.String(), want); n != 1 {
			t.Errorf("%d times %q in:\n%s", n, want, s.stderr)
		}
	}
}

// Proves S43, S5, S4, K53: up serves the decision API on a socket without a token and
// on an address with one; a question waits until somebody with the scope answers it,
// also while nobody does, and the identical call then runs.
func TestUpServesTheAPI(t *testing.T) {
	s := newAPI(t)
	status, a := s.ask(t, "agent-agent-agent", "POST", "/v1/calls", createFile)
	if status != http.StatusAccepted && a["code"] != "approval_pending" {
		t.Fatal(status, a)
	}
	status, a = s.ask(t, "", "GET", "/v1/approvals", "")
	if status != http.StatusForbidden {
		t.Error("the socket shows questions without a token:", status, a)
	}
	status, a = s.ask(t, "anna-anna-anna-anna", "GET", "/v1/approvals?state=waiting", "")
	list, _ := a["approvals"].([]any)
	if status != http.StatusOK || len(list) != 1 {
		t.Fatal(status, a)
	}
	id := fmt.Sprint(list[0].(map[string]any)["id"])
	if status, a = s.ask(t, "anna-anna-anna-anna", "POST", "/v1/approvals/"+id, `{"answer":"approve"}`); status != http.StatusOK {
		t.Fatal(status, a)
	}
	status, a = s.ask(t, "agent-agent-agent", "POST", "/v1/calls", createFile)
	if status != http.StatusOK || a["status"] != "allowed" {
		t.Fatal(status, a)
	}
	status, a = s.ask(t, "anna-anna-anna-anna", "GET", "/v1/records", "")
	if rows, _ := a["records"].([]any); status != http.StatusOK || len(rows) < 2 {
		t.Error(status, a)
	}
	if status, a = s.ask(t, "anna-anna-anna-anna", "POST", "/v1/sessions/s/snapshot?principal=agent", ""); status != http.StatusOK || a["snapshot"] == "" {
		t.Error(status, a)
	}
	if code := s.stop(t); code != cli.ExitOK {
		t.Errorf("exit code %d\n%s", code, s.stderr)
	}
	if _, err := os.Lstat(strings.TrimPrefix(s.socket, "unix://")); err == nil {
		t.Error("the socket is still there")
	}
}

// Proves S5: a question survives the end of the process that asked, and
// one without an end.
func TestQuestionsSurviveARestart(t *testing.T) {
	s := newAPI(t)
	if status, a := s.ask(t, "agent-agent-agent", "POST", "/v1/calls", createFile); status != http.StatusAccepted && a["code"] != "approval_pending" {
		t.Fatal(status, a)
	}
	s.cmd.Process.Kill()
	s.cmd.Wait()
	dir := s.cmd.Dir
	s = startUp(t, dir, "--policy", "p.toml", "--api-listen", "127.0.0.1:0")
	_, a := s.ask(t, "anna-anna-anna-anna", "GET", "/v1/approvals?state=waiting", "")
	list, _ := a["approvals"].([]any)
	if len(list) != 1 {
		t.Fatal(a)
	}
	id := fmt.Sprint(list[0].(map[string]any)["id"])
	if status, a := s.ask(t, "anna-anna-anna-anna", "POST", "/v1/approvals/"+id, `{"answer":"approve"}`); status != http.StatusOK {
		t.Fatal(status, a)
	}
	if _, a = s.ask(t, "agent-agent-agent", "POST", "/v1/calls", createFile); a["status"] != "allowed" {
		t.Error(a)
	}
}

// Proves S43, S46, FM10: an API that would be open, or cannot be had, is refused with
// a way out.
func TestAPIRefused(t *testing.T) {
	used := newAPI(t)
	socket := strings.TrimPrefix(used.socket, "unix://")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"p.toml":      "version = 1\n[tools.t.policy]\nrun = \"ask\"\n",
		"open.toml":   "version = 1\n[api]\nlisten = \"127.0.0.1:0\"\n",
		"scope.toml":  "version = 1\n[api.tokens.a]\nscopes = [\"rule\"]\nenv = \"AGENT_TOKEN\"\n",
		"two.toml":    "version = 1\n[api.tokens.a]\nscopes = [\"decide\"]\nenv = \"AGENT_TOKEN\"\nfile = \"x\"\n",
		"weak.toml":   "version = 1\n[api.tokens.a]\nscopes = [\"decide\"]\nenv = \"WEAK_TOKEN\"\n",
		"wide.toml":   "version = 1\n[api.tokens.a]\nscopes = [\"decide\"]\nfile = \"wide.token\"\n",
		"hash.toml":   "version = 1\n[api.tokens.a]\nscopes = [\"decide\"]\nsha256 = \"abc\"\n",
		"local.toml":  "version = 1\n[api.tokens.local]\nscopes = [\"decide\"]\nenv = \"AGENT_TOKEN\"\n",
		"absent.toml": "version = 1\n[approvals]\nabsent = \"allow\"\n",
		"hold.toml":   "version = 1\n[approvals]\nhold = \"0s\"\n",
		"hook.toml":   "version = 1\n[approvals.webhook]\nurl = \"here\"\n",
		"secret.toml": "version = 1\n[approvals.webhook]\nurl = \"https://example.com\"\nsecret_env = \"NO_SUCH_VARIABLE\"\n",
		"file":        "x",
		"wide.token":  "wide-wide-wide-wide",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "wide.token"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WEAK_TOKEN", "weak")
	for _, test := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"socket in use", []string{"--policy", "p.toml", "--api-socket", socket}, cli.ExitTrouble, []string{"another process serves this socket", "hint: another stopgate up or serve runs"}},
		{"no socket", []string{"--policy", "p.toml", "--api-socket", "file"}, cli.ExitTrouble, []string{"there is a file that is no socket", "hint: choose another path with --api-socket"}},
		{"address without token", []string{"--policy", "p.toml", "--api-listen", "127.0.0.1:0"}, cli.ExitTrouble, []string{"there is no token", "hint: add [api.tokens.NAME]"}},
		{"the same in the file", []string{"--policy", "open.toml"}, cli.ExitMistakes, []string{"open.toml:3:10: error SG0106", "add [api.tokens.NAME] or [identity.oidc] first"}},
		{"scope", []string{"--policy", "scope.toml"}, cli.ExitMistakes, []string{`there is no scope "rule"`}},
		{"two sources", []string{"--policy", "two.toml"}, cli.ExitMistakes, []string{"one of sha256, env and file"}},
		{"weak", []string{"--policy", "weak.toml"}, cli.ExitMistakes, []string{"can be guessed"}},
		{"readable", []string{"--policy", "wide.toml"}, cli.ExitMistakes, []string{"wide.token is open to other users: chmod 600 it"}},
		{"hash", []string{"--policy", "hash.toml"}, cli.ExitMistakes, []string{"64 hexadecimal digits"}},
		{"reserved name", []string{"--policy", "local.toml"}, cli.ExitMistakes, []string{`the name "local"`}},
		{"absent", []string{"--policy", "absent.toml"}, cli.ExitMistakes, []string{`"deny" or "defer"`}},
		{"hold", []string{"--policy", "hold.toml"}, cli.ExitMistakes, []string{"hold must be above zero"}},
		{"webhook", []string{"--policy", "hook.toml"}, cli.ExitMistakes, []string{`not "here"`}},
		{"webhook secret", []string{"--policy", "secret.toml"}, cli.ExitMistakes, []string{"NO_SUCH_VARIABLE is not set"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command("stopgate", append([]string{"up", "--listen", "127.0.0.1:0", "--store", "memory", "--audit", "a.jsonl"}, test.args...)...)
			cmd.Dir, cmd.Env = dir, atHome(t.TempDir())
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != test.code {
				t.Errorf("%v, want exit code %d", err, test.code)
			}
			for _, want := range test.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in:\n%s", want, &out)
				}
			}
		})
	}
}
