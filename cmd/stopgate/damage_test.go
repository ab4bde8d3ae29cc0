package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/cli"
)

const freePolicy = "version = 1\n[tools.free.policy]\nrun = \"unattended\"\n"

// freeCall asks the API of a gate about a call that may run, and reports whether it may.
func (s *server) freeCall(n int) (allowed bool, what string) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(s.socket, "unix://"))
	}}}
	res, err := client.Post("http://stopgate/v1/calls", "application/json", strings.NewReader(fmt.Sprintf(`{"tool":"free","args":{"n":%d},"session":"s"}`, n)))
	if err != nil {
		return false, err.Error() // it ended
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return err == nil && strings.Contains(string(text), `"status":"allowed"`), string(text)
}

// stopgateIn runs a command in a home.
func stopgateIn(dir string, args ...string) (exit int, said string) {
	cmd := exec.Command("stopgate", args...)
	cmd.Dir, cmd.Env = dir, atHome(dir)
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

func storeOf(dir string) string {
	return filepath.Join(dir, ".local", "state", "stopgate", "stopgate.db")
}

// Proves FM4: what is done to the store of a gate that runs ends its releases, and it is
// found again by verify and by whoever opens the store.
func TestDamageUnderARunningGate(t *testing.T) {
	overwrite := func(path string, n int) error {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteAt([]byte(strings.Repeat("garbage\n", n/8)), 0)
		return err
	}
	for name, damage := range map[string]func(path string) error{
		"cut to nothing":  func(path string) error { return os.Truncate(path, 0) },
		"the first 8 KiB": func(path string) error { return overwrite(path, 8<<10) },
		"the log's head":  func(path string) error { return overwrite(path+"-wal", 32) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte(freePolicy), 0o600); err != nil {
				t.Fatal(err)
			}
			// What the first one wrote is in the file, and in no log, when the second one begins.
			for range 2 {
				s := startUp(t, dir, "--policy", "p.toml")
				for n := range 5 {
					if ok, what := s.freeCall(n); !ok {
						t.Fatal(what)
					}
				}
				if s.stop(t) != cli.ExitOK {
					t.Fatal(s.stderr)
				}
			}
			s := startUp(t, dir, "--policy", "p.toml")
			if ok, what := s.freeCall(0); !ok {
				t.Fatal(what)
			}
			if err := damage(storeOf(dir)); err != nil {
				t.Fatal(err)
			}
			released := 0
			for ok, end := true, time.Now().Add(time.Minute); ok && time.Now().Before(end); released++ {
				ok, _ = s.freeCall(released)
			}
			t.Logf("%d calls left", released-1)
			if name != "the first 8 KiB" && released > 1 { // that one is looked at once a second
				t.Errorf("%d calls left", released-1)
			}
			if ok, what := s.freeCall(released); ok {
				t.Fatalf("after %d calls: %s", released, what)
			}
			s.cmd.Wait()
			if s.cmd.ProcessState.ExitCode() == cli.ExitOK || !strings.Contains(s.stderr.String(), "not trusted any more") {
				t.Errorf("exit code %d\n%s", s.cmd.ProcessState.ExitCode(), s.stderr)
			}
			exit, said := stopgateIn(dir, "log", "verify")
			if exit == cli.ExitOK && strings.HasPrefix(said, "whole") && name != "cut to nothing" && rowCounts(t, dir)["allowed"] == 11+released-1 {
				return // SQLite had all that was overwritten in memory, and wrote it at the end
			}
			if exit != cli.ExitTrouble || !strings.HasPrefix(said, "NOT WHOLE") && !strings.Contains(said, "is damaged") && !strings.Contains(said, "not a database") {
				t.Errorf("verify: %d %s", exit, said)
			}
			if exit, said := stopgateIn(dir, "up", "--listen", "127.0.0.1:0", "--policy", "p.toml"); exit != cli.ExitTrouble {
				t.Errorf("up: %d %s", exit, said)
			}
		})
	}
}

// Proves FM4, I22: a gate that is killed at any moment leaves a head that is on the chain or
// behind it, and the next one goes on.
func TestKilledGatesLeaveAWholeChain(t *testing.T) {
	rounds := 3
	if os.Getenv("STOPGATE_LONG") != "" {
		rounds = 30
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte(freePolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	released := 0
	for round := range rounds {
		s := startUp(t, dir, "--policy", "p.toml")
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for n := 0; ; n++ {
					ok, _ := s.freeCall(n)
					if !ok {
						return
					}
					mu.Lock()
					released++
					if released%20 == 15 {
						s.cmd.Process.Signal(syscall.SIGKILL)
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		s.cmd.Wait()
		exit, said := stopgateIn(dir, "log", "verify")
		if exit != cli.ExitOK {
			t.Fatalf("round %d: %d %s", round, exit, said)
		}
		if counts := rowCounts(t, dir); counts["allowed"] < released {
			t.Fatalf("round %d: %d calls left, rows %v", round, released, counts)
		}
	}
	// The head of a day ago, as after a crash of the machine: it moves on.
	head := storeOf(dir) + "-head"
	before, err := os.ReadFile(head)
	if err != nil {
		t.Fatal(err)
	}
	s := startUp(t, dir, "--policy", "p.toml")
	if ok, what := s.freeCall(0); !ok {
		t.Fatal(what)
	}
	s.stop(t)
	if err := os.WriteFile(head, before, 0o600); err != nil {
		t.Fatal(err)
	}
	s = startUp(t, dir, "--policy", "p.toml")
	s.stop(t)
	if after, err := os.ReadFile(head); err != nil || string(after) == string(before) {
		t.Errorf("the head did not move: %v", err)
	}
	if exit, said := stopgateIn(dir, "log", "verify"); exit != cli.ExitOK {
		t.Errorf("verify: %d %s", exit, said)
	}
}

// Proves S13: arguments that were changed after they were stored are told wherever they are
// read: by log verify, log show and replay.
func TestChangedArgumentsAreTold(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte(freePolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startUp(t, dir, "--policy", "p.toml")
	ok, what := s.freeCall(1)
	if !ok {
		t.Fatal(what)
	}
	s.stop(t)
	_, id, _ := strings.Cut(what, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	check := func(changed bool) {
		t.Helper()
		for _, c := range []struct {
			args   []string
			exit   int
			before string
			after  string
		}{
			{[]string{"log", "verify"}, cli.ExitTrouble, "whole: ", "NOT WHOLE: "},
			{[]string{"log", "show", id}, cli.ExitOK, `{"n":1}`, "CHANGED since they were stored"},
			{[]string{"replay", "--policy", "p.toml"}, cli.ExitOK, "1 ", "its stored arguments were changed"},
		} {
			exit, said := stopgateIn(dir, c.args...)
			want, not, code := c.before, c.after, cli.ExitOK
			if changed {
				want, not, code = c.after, "NOTHING", c.exit
			}
			if exit != code || !strings.Contains(said, want) || strings.Contains(said, not) {
				t.Errorf("%q, changed %t: %d\n%s", c.args, changed, exit, said)
			}
		}
	}
	check(false)
	db, err := sql.Open("sqlite", storeOf(dir))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`UPDATE audit_calls SET text = CAST('{"n":2}' AS BLOB)`)
	db.Close()
	if err != nil {
		t.Fatal(err)
	}
	check(true)
}

// Proves S45: gates with a store in memory share nothing: one of each kind and two of one
// run beside each other, each with records of its own.
func TestStoresInMemoryShareNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte(freePolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	up := startUp(t, dir, "--policy", "p.toml", "--store", "memory")
	if ok, what := up.freeCall(0); !ok {
		t.Error(what)
	}
	mcp := writeIn(t, dir, "mcp.toml", "version = 1\n[tools.write_file.policy]\nrun = \"unattended\"\n")
	var clients []*mcpClient
	for range 2 {
		c := startMCP(t, dir, "--policy", mcp, "--store", "memory", "--", "fake-mcp-server")
		c.hello()
		clients = append(clients, c)
	}
	for _, c := range clients {
		contains(t, c.ask(writeCall), "token t0")
		contains(t, c.ask(writeCall), "token t0")
	}
	cmd := exec.Command("stopgate", "hook", "generic", "--policy", "p.toml", "--store", "memory")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, atHome(dir), strings.NewReader(`{"tool":"free","args":{}}`)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the hook: %v\n%s", err, out)
	}
	for _, c := range clients {
		c.end()
	}
	if up.stop(t) != cli.ExitOK {
		t.Error(up.stderr)
	}
	rows := map[string]int{}
	files, err := filepath.Glob(filepath.Join(dir, ".local", "state", "stopgate", "audit*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if exit, said := stopgateIn(dir, "log", "verify", file); exit != cli.ExitOK {
			t.Errorf("%s: %s", file, said)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rows[filepath.Base(file)] = strings.Count(string(text), `"status":"allowed"`)
	}
	if len(rows) != 4 || rows["audit.jsonl"] != 1 || rows["audit-2.jsonl"] != 2 || rows["audit-3.jsonl"] != 2 || rows["audit-4.jsonl"] != 1 {
		t.Errorf("rows %v", rows)
	}
}
