// Package gate runs stopgate as its users do: the program, built from the checkout
// that this module lies in, in a home of its own.
package gate

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Build builds the program into a folder that the test removes.
func Build(t testing.TB) string {
	t.Helper()
	return build(t, "./cmd/stopgate")
}

// BuildBoth builds it and stopgate-hook in one directory, as `make build` does.
func BuildBoth(t testing.TB) string {
	t.Helper()
	return build(t, "./cmd/...")
}

func build(t testing.TB, packages string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-o", dir+string(filepath.Separator), packages)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return filepath.Join(dir, "stopgate")
}

// Home is the environment of a program that keeps its files below dir.
func Home(dir string) []string {
	return []string{"HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(dir, ".config"), "XDG_RUNTIME_DIR=" + dir}
}

// Gate is a process that serves.
type Gate struct {
	URL    string // of the gateway
	Socket string // of the decision API

	audit string // its file of rows
	trace string // the golden file that they are compared with
}

// Up starts `stopgate up` with a policy in front of a provider, and stops it at the
// end of the test, which fails if it did not end well.
func Up(t testing.TB, binary, provider, policy string, env ...string) *Gate {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "stopgate.toml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &Gate{Socket: filepath.Join(dir, "api.sock"), audit: filepath.Join(dir, "audit.jsonl")}
	cmd := exec.Command(binary, "up", "--policy", file, "--listen", "127.0.0.1:0", "--api-socket", g.Socket,
		"--store", "memory", "--audit", g.audit, "--openai-upstream", provider+"/v1", "--anthropic-upstream", provider,
		"--gemini-upstream", provider)
	cmd.Env = append(append(os.Environ(), Home(dir)...), env...)
	cmd.Dir = dir
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("stopgate up: %v\n%s", err, log.String())
		}
		g.compare(t)
	})
	var line struct {
		Gateway string `json:"gateway"`
	}
	first, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil || json.Unmarshal(first, &line) != nil {
		t.Fatalf("stopgate up said %q: %v\n%s", first, err, log.String())
	}
	g.URL = line.Gateway
	return g
}
