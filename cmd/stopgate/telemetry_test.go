package main

import (
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/demo"
)

// A running gate sends spans to a collector and counts what it serves.
func TestUpSendsSpans(t *testing.T) {
	var requests atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/v1/traces" {
			requests.Add(1)
		}
	}))
	defer collector.Close()
	dir := t.TempDir()
	text := string(demo.Policy) + "\n[telemetry]\ncontent = true\n[telemetry.otlp]\nendpoint = \"" + collector.URL + "\"\n[api.tokens.op]\nscopes = [\"operate\", \"approve\"]\nenv = \"OPERATOR_FOR_TEST\"\n"
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OPERATOR_FOR_TEST", "0123456789abcdef")
	s := startUp(t, dir, "--policy", "p.toml", "--api-listen", "127.0.0.1:0")
	post(t, s.url+"/v1/chat/completions", storeCredentials)
	req, err := http.NewRequest("GET", s.api+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer 0123456789abcdef")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	numbers, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`stopgate_decided_at_bytes_count{mode="deny",surface="gateway"} 1`, `stopgate_telemetry_dropped_total{reason="otlp"} 0`, `stopgate_telemetry_dropped_total{reason="live"} 0`,
		"stopgate_arguments_bytes_total ", "stopgate_hold_duration_seconds_count",
	} {
		if !strings.Contains(string(numbers), want) {
			t.Errorf("%q is not in\n%s", want, numbers)
		}
	}
	if code := s.stop(t); code != cli.ExitOK {
		t.Errorf("exit code %d\n%s", code, s.stderr)
	}
	if requests.Load() == 0 {
		t.Error("the collector got nothing")
	}
}

// The terminal agent sends its spans to a collector, with what was said
// where the settings say so and without what is hidden; warnings are told to the person.
func TestAgentSendsSpans(t *testing.T) {
	var mu sync.Mutex
	var got []byte
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		text, _ := io.ReadAll(body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, text...)
	}))
	defer collector.Close()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"p.toml": "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n[audit]\nredact = [\"/**/path\"]\n[telemetry]\ncontent = true\nmetrics = \"" + busy.Addr().String() + "\"\n[telemetry.otlp]\nendpoint = \"" + collector.URL + "\"\n",
		"a.txt":  "what the file says",
		"s":      "model scripted\nturn\ncall fs_read_file\n  path string a.txt\nturn\nsay Done.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("stopgate", "agent", "--policy", "p.toml", "--script", "s", "--pace", "0", "--non-interactive", "--store", "memory", "--audit", "a.jsonl", "go on")
	cmd.Dir, cmd.Env = dir, atHome(dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Done.") || !strings.Contains(string(out), "metrics are not served") {
		t.Fatalf("%v\n%s", err, out)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{
		"invoke_agent stopgate", "chat ", "execute_tool fs_read_file", "stopgate.decide fs_read_file", "what the file says", `{"path":"[redacted]"}`, `{"role":"user","parts":[{"type":"text","content":"go on"}]}`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q was not sent", want)
		}
	}
	if strings.Contains(string(got), "a.txt") {
		t.Error("what is hidden was sent")
	}
}
