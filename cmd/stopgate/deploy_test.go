package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
	"github.com/stopgate/stopgate/internal/cli/demo"
)

const deploy = "../../deploy/"

// Proves S62: the examples of deployments use commands and flags that exist, and a
// policy without a mistake.
func TestDeployments(t *testing.T) {
	for _, policy := range []string{"stopgate.toml", "helm/stopgate/files/stopgate.toml"} {
		if out, err := exec.Command("stopgate", "check", "--strict", deploy+policy).CombinedOutput(); err != nil {
			t.Errorf("check %s: %v\n%s", policy, err, out)
		}
	}
	line := regexp.MustCompile(`(?m)(?:^ExecStart=\S+ |\["/stopgate", |CMD \[|args: \[)([^]\n]*(?:\n\s+"[^]\n]*)?)`)
	word := regexp.MustCompile(`[^\s",]+`)
	found := 0
	for _, name := range []string{"systemd/stopgate.service", "systemd/stopgate-hook.service", "Containerfile", "sidecar.yaml"} {
		text, err := os.ReadFile(deploy + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			words := word.FindAllString(m[1], -1)
			if len(words) > 0 && words[0] == "/stopgate" {
				words = words[1:]
			}
			if len(words) == 0 {
				continue
			}
			cmd, _, err := commands.New(cli.Streams{}).Find(words)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			found++
			for _, w := range words {
				if flag, ok := strings.CutPrefix(w, "--"); ok && cmd.Flags().Lookup(flag) == nil {
					t.Errorf("%s: %s has no flag %s", name, cmd.Name(), w)
				}
			}
		}
	}
	if found != 7 {
		t.Errorf("%d command lines", found)
	}
}

// A probe says whether a gate is ready, over the socket and over the gateway.
func TestHealth(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), demo.Policy, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startUp(t, dir, "--policy", "p.toml")
	for _, args := range [][]string{nil, {"--live"}, {"--url", s.url}, {"--url", s.api}, {"--live", "--url", s.url}} {
		if out := stopgateAt(t, dir, append([]string{"health"}, args...)...); !strings.Contains(out, `"status":`) {
			t.Errorf("health %v: %s", args, out)
		}
	}
	s.stop(t)
	for _, args := range [][]string{nil, {"--url", s.url}} {
		cmd := exec.Command("stopgate", append([]string{"health"}, args...)...)
		cmd.Dir, cmd.Env = dir, atHome(dir)
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != cli.ExitTrouble {
			t.Errorf("health %v of nothing: %v\n%s", args, err, out)
		}
	}
}

// Proves that whoever runs the example's service finds its store and its socket without
// a flag: what is typed in a hurry is lockdown, not paths.
func TestDeployedStateIsFound(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile(deploy + "stopgate.toml")
	if err != nil {
		t.Fatal(err)
	}
	const place = "/var/lib/stopgate/"
	if n := strings.Count(string(text), place); n != 2 {
		t.Fatalf("the example names %s %d times, not for store and socket", place, n)
	}
	own := filepath.Join(dir, ".config", "stopgate", "stopgate.toml")
	if runtime.GOOS == "darwin" {
		own = filepath.Join(dir, "Library", "Application Support", "stopgate", "stopgate.toml")
	}
	state, err := os.MkdirTemp("", "state") // a short path: it has to fit into a socket's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(state) })
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte(strings.ReplaceAll(string(text), place, state+"/")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"STOPGATE_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"} {
		t.Setenv(name, "sg_0123456789abcdef")
	}
	s := startUp(t, dir)
	for _, name := range []string{"STOPGATE_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"} {
		os.Unsetenv(name)
	}
	for _, args := range [][]string{{"health"}, {"lockdown"}, {"log"}, {"log", "verify"}, {"report"}, {"approvals"}, {"grants"}, {"sessions"}} {
		stopgateAt(t, dir, args...)
	}
	if out := stopgateAt(t, dir, "lockdown", "--status"); !strings.Contains(out, "LOCKDOWN") {
		t.Errorf("lockdown: %s", out)
	}
	s.stop(t)
}

// Proves that a probe that cannot trust the gate's certificate says so.
func TestHealthOfUntrustedCertificate(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	cmd := exec.Command("stopgate", "health", "--url", server.URL)
	cmd.Env = atHome(t.TempDir())
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "SSL_CERT_FILE") {
		t.Errorf("%s", out)
	}
}
