package mcp_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Programs under test, built and installed once.
var stopgate, everything, node, modules string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "stopgate-interop")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	stopgate, everything = filepath.Join(dir, "stopgate"), filepath.Join(dir, "everything-server")
	for _, build := range []struct{ dir, out, pkg string }{
		{"../..", stopgate, "./cmd/stopgate"},
		{".", everything, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"},
	} {
		cmd := exec.Command("go", "build", "-o", build.out, build.pkg)
		cmd.Dir, cmd.Stderr = build.dir, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build", build.pkg, err)
			return 1
		}
	}
	if err := install(); err != nil {
		fmt.Fprintln(os.Stderr, "the referees cannot be installed:", err)
		return 1
	}
	return m.Run()
}

// install installs what package.json names, if that is not there yet.
func install() error {
	want, err := os.ReadFile("package.json")
	if err != nil {
		return err
	}
	if modules, err = filepath.Abs("node_modules"); err != nil {
		return err
	}
	node = filepath.Join(modules, ".bin", "node")
	stamp := filepath.Join(modules, ".stopgate")
	sum := sha256.Sum256(want)
	if have, err := os.ReadFile(stamp); err == nil && string(have) == hex.EncodeToString(sum[:]) {
		return nil
	}
	cmd := exec.Command("npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	if out, err := exec.Command(node, "--version").Output(); err != nil || !strings.HasPrefix(string(out), "v22.") {
		return fmt.Errorf("node 22 is not there: %q, %v", out, err)
	}
	return os.WriteFile(stamp, []byte(hex.EncodeToString(sum[:])), 0o600)
}

// home is an environment without anything of the person who runs the tests.
func home(t *testing.T) []string {
	dir := t.TempDir()
	return []string{
		"HOME=" + dir, "PATH=" + filepath.Join(modules, ".bin") + ":" + os.Getenv("PATH"),
		"MCP_INSPECTOR_SECRET_STORE=memory", "npm_config_update_notifier=false",
	}
}

// write puts a policy into a file.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// start runs a program until the test ends.
func start(t *testing.T, cmd *exec.Cmd) io.Reader {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log := new(strings.Builder)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(cmd.Path), log)
		}
	})
	return out
}

// directly starts the SDK's server and returns its URL.
func directly(t *testing.T, flags ...string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	start(t, exec.Command(everything, append([]string{"-http", addr}, flags...)...))
	until(t, func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return "http://" + addr + "/mcp"
}

// through puts the gate before servers and returns the URL that clients use.
func through(t *testing.T, policy string, servers ...string) string {
	t.Helper()
	args := []string{"mcp", "--http", "127.0.0.1:0", "--store", "memory", "--audit", filepath.Join(t.TempDir(), "audit.jsonl"), "--policy", policy}
	for _, s := range servers {
		args = append(args, "--server", s)
	}
	cmd := exec.Command(stopgate, args...)
	cmd.Env = home(t)
	line, err := bufio.NewReader(start(t, cmd)).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var ready struct{ MCP, Token string }
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(ready.MCP, "/mcp", "/k/"+ready.Token+"/mcp", 1)
}

// until waits for a condition.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it does not come up")
		}
	}
}
