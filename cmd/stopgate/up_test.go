package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/demo"
)

// server is a running stopgate up.
type server struct {
	cmd    *exec.Cmd
	url    string
	api    string
	socket string
	stderr *strings.Builder
}

// startUp runs stopgate up in a directory of its own and waits for its line.
func startUp(t *testing.T, dir string, args ...string) *server {
	t.Helper()
	s, err := tryUp(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	return s
}

// tryUp is startUp for a gate that may not be able to start.
func tryUp(dir string, args ...string) (_ *server, err error) {
	s := &server{cmd: exec.Command("stopgate", append([]string{"up", "--listen", "127.0.0.1:0", "--replay-pace", "0"}, args...)...), stderr: new(strings.Builder)}
	s.cmd.Dir, s.cmd.Stderr = dir, s.stderr
	s.cmd.Env = atHome(dir)
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.end()
			err = fmt.Errorf("%w\n%s", err, s.stderr)
		}
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("no line on standard output: %w", err)
	}
	var ready struct {
		Gateway      string
		API, Console *string
		Socket       *string `json:"api_socket"`
	}
	if err := json.Unmarshal([]byte(line), &ready); err != nil || ready.Gateway == "" || ready.API == nil {
		return nil, fmt.Errorf("standard output %q: %w", line, err)
	}
	if remote := ready.Socket != nil || strings.HasPrefix(*ready.API, "http"); remote != (ready.Console != nil) {
		return nil, fmt.Errorf("pages for people, and an address that browsers reach: %s", line)
	}
	s.url = ready.Gateway
	s.api, s.socket = *ready.API, *ready.API
	if ready.Socket != nil {
		s.socket = *ready.Socket
	}
	return s, nil
}

// end ends the process at once.
func (s *server) end() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// stop sends SIGTERM and returns the exit code.
func (s *server) stop(t *testing.T) int {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

const storeCredentials = `{"model":"stopgate-denied","stream":true,
 "messages":[{"role":"user","content":"Store the credentials."}],
 "tools":[{"type":"function","function":{"name":"fs_create_file","parameters":{"type":"object",
  "properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}}]}`

func post(t *testing.T, url, body string) (status int, answer string) {
	t.Helper()
	client := http.Client{Timeout: 30 * time.Second}
	resp, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// Proves I22, I23: a denied call is answered, recorded, and survives SIGTERM.
func TestUpServesAndDrains(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), demo.Policy, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startUp(t, dir, "--policy", "p.toml", "--audit", "records.jsonl")
	status, answer := post(t, s.url+"/v1/chat/completions", storeCredentials)
	if status != http.StatusOK || !strings.HasSuffix(answer, "data: [DONE]\n\n") {
		t.Errorf("status %d, answer %q", status, answer)
	}
	if !strings.Contains(answer, "was not run: secrets stay out of reach (rule_matched)") || strings.Contains(answer, "tool_calls\":[{\"index") {
		t.Errorf("the call was not replaced: %s", answer)
	}
	if code := s.stop(t); code != cli.ExitOK {
		t.Errorf("exit code %d\n%s", code, s.stderr)
	}
	rows, err := os.ReadFile(filepath.Join(dir, "records.jsonl"))
	if err != nil || !strings.Contains(string(rows), `"status":"denied"`) {
		t.Errorf("records %s, %v", rows, err)
	}
	if !strings.Contains(s.stderr.String(), "calls=1 denied=1 ") {
		t.Errorf("the line of the exchange names no verdict: %s", s.stderr)
	}
	if !strings.Contains(s.stderr.String(), "stopgate: listening on "+s.url+", records in records.jsonl") {
		t.Errorf("standard error: %s", s.stderr)
	}
}

// Proves S50, S45: without a policy, a key or a flag up works and says what holds.
func TestUpWithoutAnything(t *testing.T) {
	dir := t.TempDir()
	s := startUp(t, dir)
	status, answer := post(t, s.url+"/v1/chat/completions", storeCredentials)
	if status != http.StatusOK || !strings.Contains(answer, "was not run") {
		t.Errorf("status %d, answer %s", status, answer)
	}
	if code := s.stop(t); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(s.stderr.String(), "built-in starter policy") {
		t.Errorf("standard error: %s", s.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, ".local", "state", "stopgate", "stopgate.db")); err != nil {
		t.Error(err)
	}
}

// Proves FM4: a gate beside which a newer stopgate changes the store lets nothing run, and
// ends with what to do: its supervisor starts the newer one.
func TestUpBesideANewerStore(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte("version = 1\n[tools.look.policy]\nrun = \"unattended\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startUp(t, dir, "--policy", "p.toml", "--store", "sqlite:s.db")
	call := func(id string) any {
		t.Helper()
		_, answer := s.ask(t, "", "POST", "/v1/calls", `{"tool":"look","args":{},"session":"s","call_id":"`+id+`"}`)
		return answer["status"]
	}
	if got := call("one"); got != "allowed" {
		t.Fatalf("the first call: %v", got)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "s.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("BEGIN IMMEDIATE; ALTER TABLE sessions RENAME TO owners; UPDATE components SET version = version + 1 WHERE name = 'store'; COMMIT"); err != nil {
		t.Fatal(err)
	}
	if got := call("two"); got != "denied" {
		t.Errorf("the second call: %v", got)
	}
	s.cmd.Wait()
	if code := s.cmd.ProcessState.ExitCode(); code != cli.ExitTrouble {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"its store tables have version", "use the newer stopgate, and start this again", "hint: no call runs until then"} {
		if !strings.Contains(s.stderr.String(), want) {
			t.Errorf("standard error lacks %q: %s", want, s.stderr)
		}
	}
}

// Proves FM10: what keeps up from starting ends it with a code and a way out.
func TestUpCannotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	files := map[string]string{
		"p.toml":       "version = 1\n[tools.t.policy]\nrun = \"ask\"\n",
		"broken.toml":  "version = 1\ntolls = 1\n",
		"setting.toml": "version = 1\n[gateway]\nlisten = 1\n",
		"key.toml":     "version = 1\n[upstream.x]\nbase_url = \"https://llm.example.com\"\nkey_env = \"NO_SUCH_VARIABLE\"\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	used := startUp(t, dir, "--policy", "p.toml", "--audit", "used.jsonl")
	tests := []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"port taken", []string{"--policy", "p.toml", "--listen", taken.Addr().String()}, cli.ExitTrouble, []string{"stopgate: listen on " + taken.Addr().String(), "hint: choose another address with --listen", "or another stopgate"}},
		{"broken policy", []string{"--policy", "broken.toml"}, cli.ExitMistakes, []string{"broken.toml:2:1: error SG0103"}},
		{"broken setting", []string{"--policy", "setting.toml"}, cli.ExitMistakes, []string{"setting.toml:3:10: error SG0104"}},
		{"variable not set", []string{"--policy", "key.toml"}, cli.ExitMistakes, []string{"NO_SUCH_VARIABLE is not set"}},
		{"no policy file", []string{"--policy", "missing.toml"}, cli.ExitTrouble, []string{"missing.toml", "hint: "}},
		{"records in use", []string{"--policy", "p.toml", "--audit", "used.jsonl", "--listen", "127.0.0.1:0"}, cli.ExitTrouble, []string{"another stopgate writes to this audit log", "hint: name another file with --audit"}},
		{"other machines", []string{"--policy", "p.toml", "--listen", "0.0.0.0:0"}, cli.ExitTrouble, []string{"lets other machines in"}},
		{"no address", []string{"--policy", "p.toml", "--listen", "here"}, cli.ExitTrouble, []string{"want HOST:PORT"}},
		{"no recordings", []string{"--policy", "p.toml", "--replay", "missing"}, cli.ExitTrouble, []string{"missing"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command("stopgate", append([]string{"up", "--audit", "other.jsonl"}, test.args...)...)
			cmd.Dir, cmd.Env = dir, atHome(t.TempDir())
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != test.code {
				t.Errorf("%v, want exit code %d", err, test.code)
			}
			for _, want := range test.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("%q is not in:\n%s", want, out)
				}
			}
		})
	}
	used.stop(t)
}

// atHome is the environment of somebody who lives in a directory and has nothing of
// stopgate's elsewhere.
func atHome(dir string) []string {
	return append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_RUNTIME_DIR=")
}

// Proves that everything that keeps up from starting is said in one run, whatever table it stands in.
func TestUpSaysAllMistakes(t *testing.T) {
	dir := t.TempDir()
	policy := "version = 1\n[gateway.tokens.a]\nenv = \"NOT_SET_A\"\n[api.tokens.b]\nscopes = [\"operate\"]\nenv = \"NOT_SET_B\"\n"
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("stopgate", "up", "--policy", "p.toml", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = dir, atHome(dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), "NOT_SET_A") || !strings.Contains(string(out), "NOT_SET_B") {
		t.Errorf("%v: %s", err, out)
	}
}
