package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/demo"
	"github.com/stopgate/stopgate/internal/record/redis"
	"github.com/stopgate/stopgate/internal/testkit/redistest"
)

// stopgateAt runs a command in a directory and returns what it wrote on standard output.
func stopgateAt(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("stopgate", args...)
	cmd.Dir, cmd.Env = dir, atHome(dir)
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("stopgate %s: %v\n%s", strings.Join(args, " "), err, talk.String())
	}
	return string(out)
}

// Proves V3-30, S58: what happens is seen by who watches the decision API.
func TestEventsOfUp(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), demo.Policy, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startUp(t, dir, "--policy", "p.toml")
	if status, answer := post(t, s.url+"/v1/chat/completions", storeCredentials); status != http.StatusOK {
		t.Fatal(answer)
	}
	line := stopgateAt(t, dir, "events", "--all", "--count", "1", "--type", "decision")
	if !strings.Contains(line, "denied") || !strings.Contains(line, "fs_create_file") || !strings.Contains(line, "rule_matched") {
		t.Errorf("text: %s", line)
	}
	line = stopgateAt(t, dir, "events", "--url", s.api, "--all", "--count", "1", "--type", "decision", "--tool", "fs_create_file", "--format", "json")
	var event struct {
		Seq    uint64
		Type   string
		Record struct{ Tool, Code string }
	}
	if err := json.Unmarshal([]byte(line), &event); err != nil || event.Type != "decision" || event.Record.Code != "rule_matched" || event.Seq == 0 {
		t.Errorf("json: %s, %v", line, err)
	}
	s.stop(t)
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{}, cli.ExitTrouble, "is stopgate up running?"},
		{[]string{"--url", "ftp://x"}, cli.ExitUsage, "want unix:PATH"},
		{[]string{"--token-env", "NO_SUCH_VARIABLE"}, cli.ExitUsage, "NO_SUCH_VARIABLE is not set"},
		{[]string{"--url", "redis://127.0.0.1:1"}, cli.ExitTrouble, "redis:"},
	} {
		cmd := exec.Command("stopgate", append([]string{"events"}, test.args...)...)
		cmd.Dir, cmd.Env = dir, atHome(dir)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != test.code || !strings.Contains(string(out), test.want) {
			t.Errorf("events %v: exit %d, want %d with %q:\n%s", test.args, cmd.ProcessState.ExitCode(), test.code, test.want, out)
		}
	}
}

// Proves K0j: up publishes to a real Redis server, and events watches there.
func TestEventsThroughRedis(t *testing.T) {
	server := redistest.Start(t)
	dir := t.TempDir()
	text := string(demo.Policy) + "\n[telemetry]\nlog_format = \"json\"\n[telemetry.redis]\nurl_env = \"REDIS_FOR_TEST\"\nchannel = \"c\"\nstream = \"s\"\n"
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("REDIS_FOR_TEST", server.URL())
	s := startUp(t, dir, "--policy", "p.toml")
	watching := exec.Command("stopgate", "events", "--url", server.URL(), "--channel", "c", "--type", "decision", "--count", "1", "--format", "json")
	watching.Dir, watching.Env = dir, atHome(dir)
	var out strings.Builder
	watching.Stdout = &out
	if err := watching.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- watching.Wait() }()
	until(t, "somebody sees an event", func() bool {
		post(t, s.url+"/v1/chat/completions", storeCredentials)
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			return true
		default:
			return false
		}
	})
	var m redis.Message
	if err := json.Unmarshal([]byte(out.String()), &m); err != nil || m.Gate == "" || m.Record == nil || m.Record.Tool != "fs_create_file" {
		t.Errorf("%s: %v", out.String(), err)
	}
	client := server.Client()
	defer client.Close()
	if n := client.XLen(t.Context(), "s").Val(); n == 0 {
		t.Error("the stream is empty")
	}
	s.stop(t)
	for line := range strings.Lines(s.stderr.String()) {
		var said map[string]any
		if err := json.Unmarshal([]byte(line), &said); err != nil || said["msg"] == "" {
			t.Errorf("a line that is not JSON: %s", line)
		}
		if took, ok := said["duration"].(float64); said["msg"] == "exchange" && (!ok || took > 60) {
			t.Errorf("the duration is not in seconds: %s", line)
		}
	}
	if !strings.Contains(s.stderr.String(), `"msg":"exchange"`) || !strings.Contains(s.stderr.String(), `"msg":"listening on `) {
		t.Errorf("the log lacks lines:\n%s", s.stderr)
	}
}
