package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/host/install"
)

// Proves FM9, I14, I20.
func TestHookFaults(t *testing.T) {
	t.Run("stopgate", func(t *testing.T) { hookFaults(t, "stopgate") })
	t.Run("stopgate-hook", func(t *testing.T) { hookFaults(t, process.SmallName) })
}

// Proves FM9: a hook whose host closed its end of a pipe ends with the status that blocks,
// not by a signal, which lets the call run.
func TestHookOutlivesPipes(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "policy.toml")
	if err := os.WriteFile(policy, []byte("version = 1\n[tools.Read]\npolicy.run = \"deny\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	event := `{"session_id":"s","cwd":"` + dir + `","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a"},"tool_use_id":"t"}`
	for _, words := range [][]string{{"stopgate", "hook", "claude-code"}, {process.SmallName, "claude-code"}} {
		for _, closed := range []string{"out", "err", "both"} {
			program, err := exec.LookPath(words[0])
			if err != nil {
				t.Fatal(err)
			}
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			cmd := exec.Command(program, append(words[1:], "--policy", policy, "--store", "sqlite:"+filepath.Join(dir, "s.db"))...)
			cmd.Env, cmd.Stdin = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME=", "XDG_CONFIG_HOME="), strings.NewReader(event)
			if closed != "err" {
				cmd.Stdout = w
			}
			if closed != "out" {
				cmd.Stderr = w
			}
			err = cmd.Run()
			w.Close()
			if cmd.ProcessState.ExitCode() != 2 {
				t.Errorf("%s, %s closed: %v", words[0], closed, err)
			}
		}
	}
}

// hookFaults: whatever goes wrong around a hook process, the command line that
// install writes does not let the call run: texts that are no events, policies and stores
// that cannot be used, a disk that is full, a process that is killed.
func hookFaults(t *testing.T, name string) {
	rounds := 2
	if os.Getenv("STOPGATE_LONG") != "" {
		rounds = 60
	}
	dir := t.TempDir()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	policy := write("policy.toml", "version = 1\n[tools.Read]\npolicy.run = \"unattended\"\n")
	event := `{"session_id":"s","cwd":"` + dir + `","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a"},"tool_use_id":"t%d"}`
	locked := lockedStore(t, filepath.Join(dir, "locked.db"))
	faults := []struct {
		what   string
		flags  []string
		before string // what the shell does first
		input  func(n int) string
	}{
		{"a cut event", []string{"--policy", policy}, "", func(n int) string {
			whole := fmt.Sprintf(event, n)
			return whole[:rand.IntN(len(whole)-1)]
		}},
		{"no event", []string{"--policy", policy}, "exec < /dev/null; ", nil},
		{"a missing policy", []string{"--policy", filepath.Join(dir, "none.toml")}, "", nil},
		{"a policy that is a directory", []string{"--policy", dir}, "", nil},
		{"a broken policy", []string{"--policy", write("broken.toml", "version = 1\n[tools.Read\n")}, "", nil},
		{"a store that is a directory", []string{"--policy", policy, "--store", dir}, "", nil},
		{"a store that is none", []string{"--policy", policy, "--store", write("text.db", strings.Repeat("this is no database\n", 50))}, "", nil},
		{"a store in a file", []string{"--policy", policy, "--store", policy + "/x.db"}, "", nil},
		{"a store that is locked", []string{"--policy", policy, "--store", locked, "--deadline", "300ms"}, "", nil},
		{"a full disk", []string{"--policy", policy, "--store", filepath.Join(dir, "full.db")}, "ulimit -f 0; ", nil},
		{"too many files", []string{"--policy", policy}, "ulimit -n 6; ", nil},
		{"no answer can be written", []string{"--policy", policy, "--fewer-prompts"}, "exec > /dev/full; ", nil},
		{"a wrong command line", []string{"--policy", policy, "--nosuch"}, "", nil},
		{"a program that is gone", nil, "", nil},
	}
	plan := func(program string, flags []string) string {
		p, err := install.Make("claude-code", install.Location{Scope: install.User, Home: dir}, install.Command{Program: program, Small: filepath.Base(strings.TrimSuffix(program, "-gone")) == process.SmallName, Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		return p.Line
	}
	run := func(line, input string) (int, string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
		cmd.Stdin = strings.NewReader(input)
		cmd.Env = atHome(dir)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), said.String()
	}
	n := 0
	for range rounds {
		for _, f := range faults {
			n++
			name := program
			if f.what == "a program that is gone" {
				name += "-gone"
			}
			input := fmt.Sprintf(event, n)
			if f.input != nil {
				input = f.input(n)
			}
			if exit, said := run(f.before+plan(name, f.flags), input); exit != 2 || said == "" {
				t.Errorf("%s: exit %d\n%s", f.what, exit, said)
			}
		}
		// A process that is killed answers nothing, or has written its row.
		n++
		id := fmt.Sprintf("killed%d", n)
		line := strings.Replace(plan(program, []string{"--policy", policy}), program, fmt.Sprintf("timeout -s KILL 0.%03d %s", rand.IntN(60), program), 1)
		if exit, _ := run(line, strings.Replace(fmt.Sprintf(event, n), fmt.Sprintf("t%d", n), id, 1)); exit == 0 {
			if _, log := run("stopgate log --format json", ""); !strings.Contains(log, id) {
				t.Errorf("the call %s ran without a row", id)
			}
		} else if exit != 2 {
			t.Errorf("killed: exit %d", exit)
		}
	}
	if exit, said := run(plan(program, []string{"--policy", policy}), fmt.Sprintf(event, n+1)); exit != 0 {
		t.Errorf("without a fault: exit %d\n%s", exit, said)
	}
	t.Logf("%d faults", n)
}

// lockedStore is a store that another connection keeps to itself.
func lockedStore(t *testing.T, path string) string {
	t.Helper()
	s, err := place.Settings{Store: path}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		db.Close()
	})
	return path
}
