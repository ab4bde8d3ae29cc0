package sdk

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// policy denies what names itself denied, asks about what says so, and allows the
// rest.
const policy = `version = 1

[api.tokens.anna]
scopes = ["approve"]
env = "ANNA_TOKEN"

[tools."*".parameters]
path = { type = "string" }

[tools."*".policy]
run = [
  { arg = "/path", const = "denied", mode = "deny", reason = "not this one" },
  { arg = "/path", const = "asked", mode = "ask" },
  { mode = "unattended" },
]
`

// token is what the person who approves shows.
const token = "3d1c3a7e5b9f48c2"

// denial is the line that stands for a denied call.
func denial(tool, reason, code string) string {
	return "[stopgate] The tool call `" + tool + "` was not run: " + reason + " (" + code + ")."
}

// gate is a stopgate process in front of a provider.
type gate struct {
	url   string
	dir   string
	audit string
}

// startGate builds stopgate and starts it.
func startGate(t testing.TB, provider string) *gate {
	dir := t.TempDir()
	binary := filepath.Join(dir, "stopgate")
	build := exec.Command("go", "build", "-o", binary, "./cmd/stopgate")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	file := filepath.Join(dir, "stopgate.toml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &gate{dir: dir, audit: filepath.Join(dir, "audit.jsonl")}
	cmd := exec.Command(binary, "up", "--policy", file, "--listen", "127.0.0.1:0", "--api-socket", filepath.Join(dir, "api.sock"),
		"--store", "memory", "--audit", g.audit, "--openai-upstream", provider+"/v1", "--anthropic-upstream", provider)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_RUNTIME_DIR="+dir, "ANNA_TOKEN="+token)
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
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("stopgate up: %v\n%s", err, log.String())
		}
	})
	var line struct {
		Gateway string `json:"gateway"`
	}
	first, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil || json.Unmarshal(first, &line) != nil {
		t.Fatalf("stopgate up said %q: %v\n%s", first, err, log.String())
	}
	g.url = line.Gateway
	return g
}
