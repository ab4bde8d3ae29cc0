package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/system/socket"
	"github.com/stopgate/stopgate/internal/testkit/hookserver"
)

// hookHome is a user with a policy, a project and hooks that are small programs.
type hookHome struct {
	t       *testing.T
	dir     string
	program string
}

func newHookHome(t *testing.T, policy string) *hookHome {
	t.Helper()
	if _, err := os.Stat("/proc/self/ns/mnt"); err != nil {
		t.Skip("this system shows nothing of processes")
	}
	dir, err := os.MkdirTemp("", "sg") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := exec.LookPath(process.SmallName)
	if err != nil {
		t.Fatal(err)
	}
	h := &hookHome{t, dir, program}
	h.write("policy.toml", policy)
	return h
}

func (h *hookHome) write(name, text string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *hookHome) socket() string {
	return filepath.Join(h.dir, ".local", "state", "stopgate", "hook.sock")
}

// hookSaid is what a process said.
type hookSaid struct {
	exit     int
	out, err string
}

// run starts the small program.
func (h *hookHome) run(input string, args ...string) hookSaid {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.program, args...)
	cmd.Dir, cmd.Env = h.dir, atHome(h.dir)
	cmd.Stdin = strings.NewReader(input)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return hookSaid{cmd.ProcessState.ExitCode(), out.String(), talk.String()}
}

// hook asks about an event under the policy of the home.
func (h *hookHome) hook(host, event string, args ...string) hookSaid {
	return h.run(event, append([]string{host, "--policy", filepath.Join(h.dir, "policy.toml")}, args...)...)
}

// serve starts a resident, and waits until it answers.
func (h *hookHome) serve(args ...string) *exec.Cmd {
	h.t.Helper()
	cmd := exec.Command(h.program, append([]string{"serve"}, args...)...)
	cmd.Dir, cmd.Env = h.dir, atHome(h.dir)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
			h.t.Error(err)
		}
	})
	for end := time.Now().Add(30 * time.Second); ; {
		if _, err := os.Stat(h.socket()); err == nil && h.run("", "serve", "--status").exit == 0 {
			return cmd
		}
		if time.Now().After(end) {
			h.t.Fatalf("no resident: %s", talk.String())
		}
	}
}

// counts are how many events a resident answered and left.
func (h *hookHome) counts() (answered, left int) {
	h.t.Helper()
	m := regexp.MustCompile(`: (\d+) events answered, (\d+) left`).FindStringSubmatch(h.run("", "serve", "--status").out)
	if m == nil {
		h.t.Fatal("no status")
	}
	fmt.Sscan(m[1]+" "+m[2], &answered, &left)
	return answered, left
}

func readEvent(dir, file, id string) string {
	return `{"session_id":"s","cwd":"` + dir + `","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"` + file + `"},"tool_use_id":"` + id + `"}`
}

const residentPolicy = `version = 1
[tools.Read]
parameters.file_path = { type = "path" }
policy.run = [ { arg = "/file_path", prefix = "free/", mode = "unattended" }, { mode = "deny", reason = "not that" } ]
[tools.Shell]
also = ["Bash", "bash", "run_shell_command", "execute_command", "shell", "run_in_terminal"]
parameters.command = { type = "command" }
policy.run = [ { arg = "/command", prefix = "ls", mode = "unattended" }, { arg = "/command", prefix = "make", mode = "ask", reason = "may it run?" }, { mode = "deny", reason = "not today" } ]
`

// Proves FM9, I13: a resident says what a process of its own says, byte by byte, about the
// same events of every host.
func TestResidentSaysTheSame(t *testing.T) {
	alone, with := newHookHome(t, residentPolicy), newHookHome(t, residentPolicy)
	with.serve()
	question := regexp.MustCompile(`Approval [A-Z0-9]{26}`)
	same := func(a, b hookSaid) bool {
		for _, s := range []*hookSaid{&a, &b} {
			s.out, s.err = question.ReplaceAllString(s.out, "Approval ID"), question.ReplaceAllString(s.err, "Approval ID")
		}
		return a == b
	}
	n := 0
	for _, name := range hook.Names() {
		h, err := hook.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		canary := string(h.Probe("/srv/proj", "doctor"))
		for _, command := range []string{"stopgate approvals list", "ls -l", "make all", "rm -rf /", "cat ~/.ssh/id_rsa"} {
			for _, flags := range [][]string{{"--deadline", "2s"}, {"--deadline=2s", "--fewer-prompts"}, {"--observe"}} {
				n++
				// Calls that are the same, of a host that gives them no id, would be one call for two seconds.
				event := strings.ReplaceAll(strings.Replace(canary, "stopgate approvals list", command+" doctor", 1), "doctor", fmt.Sprint("e", n))
				want := alone.hook(name, event, flags...)
				if got := with.hook(name, event, flags...); !same(got, want) {
					t.Errorf("%s %q %v: %+v, not %+v", name, command, flags, got, want)
				}
			}
		}
		for _, event := range []string{"", "{}", canary[:len(canary)/2], strings.Replace(canary, `"cwd"`, `"cwd":"/x","cwd"`, 1)} {
			n++
			want := alone.hook(name, event)
			if got := with.hook(name, event); got != want {
				t.Errorf("%s %q: %+v, not %+v", name, event, got, want)
			}
		}
	}
	if answered, left := with.counts(); answered != n || left != 0 {
		t.Errorf("%d of %d answered, %d left", answered, n, left)
	}
	if diff := cmp.Diff(alone.rows(), with.rows()); diff != "" {
		t.Errorf("rows of a process alone, and with a resident:\n%s", diff)
	}
}

// rows are the rows of the log without what two logs of the same calls differ in.
func (h *hookHome) rows() (rows []string) {
	h.t.Helper()
	cmd := exec.Command("stopgate", "log", "--format", "json")
	cmd.Dir, cmd.Env = h.dir, atHome(h.dir)
	out, err := cmd.Output()
	if err != nil {
		h.t.Fatal(err)
	}
	own := regexp.MustCompile(`"(seq|chain|time|id|prev|hash|approval)":("[^"]*"|\d+),?|Approval [A-Z0-9]{26}`)
	for line := range strings.Lines(strings.ReplaceAll(string(out), h.dir, "HOME")) {
		rows = append(rows, own.ReplaceAllString(line, ""))
	}
	return rows
}

// Proves FM9, H20: what changes while a resident runs counts from the next event on, and
// what it cannot do it leaves to who asks.
func TestResidentFollows(t *testing.T) {
	h := newHookHome(t, residentPolicy)
	h.serve()
	id := 0
	ask := func(file string, want int, more ...string) hookSaid {
		t.Helper()
		id++
		got := h.hook("claude-code", readEvent("/srv/proj", "/srv/proj/"+file, fmt.Sprint("f", id)), more...)
		if got.exit != want {
			t.Errorf("%s: %+v, not %d", file, got, want)
		}
		return got
	}
	ask("free/a", 0)
	h.write("policy.toml", strings.Replace(residentPolicy, "free/", "other/", 1))
	ask("free/a", 2)
	h.write("policy.toml", "version = 1\n[tools.Read\n")
	ask("free/a", 2)
	h.write("policy.toml", residentPolicy)
	ask("free/a", 0)
	// Another store under the same name.
	store := filepath.Join(h.dir, ".local", "state", "stopgate", "stopgate.db")
	for _, end := range []string{"", "-wal", "-shm", "-head"} {
		if err := os.Remove(store + end); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	ask("free/a", 0)
	if _, err := os.Stat(store); err != nil {
		t.Error(err)
	}
	before, left := h.counts()
	if before != 5 || left != 0 {
		t.Errorf("%d answered, %d left", before, left)
	}
	// What is said relative to a directory, what has no store, what takes the full program.
	h.run(readEvent("/srv/proj", "/srv/proj/free/a", "rel"), "claude-code", "--policy", "policy.toml")
	ask("free/a", 0, "--store", "memory")
	ask("free/a", 0, "--store", "rel.db")
	h.write("policy.toml", residentPolicy+"[approvals]\nnotify = [\"true\"]\n")
	ask("free/a", 0)
	if answered, left := h.counts(); answered != before || left != 4 {
		t.Errorf("%d answered, %d left", answered-before, left)
	}
	// A policy that is the store takes no lock away.
	h.write("policy.toml", residentPolicy)
	ask("free/a", 0)
	if err := os.Remove(filepath.Join(h.dir, "policy.toml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(store, filepath.Join(h.dir, "policy.toml")); err != nil {
		t.Fatal(err)
	}
	if got := ask("free/a", 2); !strings.Contains(got.err, "belongs to a store") {
		t.Errorf("%+v", got)
	}
}

// Proves FM9: one resident serves, others do not start; a program that is no longer the
// same file is not believed, and a resident that nobody asks ends.
func TestResidentIsOne(t *testing.T) {
	h := newHookHome(t, residentPolicy)
	h.serve()
	if got := h.run("", "serve"); got.exit != 1 || !strings.Contains(got.err, "another process serves") {
		t.Errorf("%+v", got)
	}
	doctor := func(format string) string {
		cmd := exec.Command("stopgate", "doctor", "--format", format)
		cmd.Dir, cmd.Env = h.dir, atHome(h.dir)
		out, _ := cmd.Output() // no hook is installed
		return string(out)
	}
	if text := doctor("text"); !strings.Contains(text, "resident: hooks ask stopgate-hook ") {
		t.Error(text)
	}
	if text := doctor("json"); !strings.Contains(text, `"answers":true`) {
		t.Error(text)
	}
	if info, err := os.Stat(h.socket()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if info, err := os.Stat(filepath.Dir(h.socket())); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	text, err := os.ReadFile(h.program)
	if err != nil {
		t.Fatal(err)
	}
	other := *h
	other.program = filepath.Join(h.dir, process.SmallName)
	for _, program := range []string{other.program, filepath.Join(h.dir, "stopgate")} {
		if err := os.WriteFile(program, text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got := other.hook("claude-code", readEvent("/srv/proj", "/srv/proj/free/a", "o1")); got.exit != 0 {
		t.Errorf("%+v", got)
	}
	if got := other.run("", "serve", "--status"); got.exit != 1 {
		t.Errorf("%+v", got)
	}
	if answered, left := h.counts(); answered != 0 || left != 0 {
		t.Errorf("%d answered, %d left", answered, left)
	}
	open := newHookHome(t, residentPolicy)
	if err := os.MkdirAll(filepath.Dir(open.socket()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(open.socket()), 0o770); err != nil {
		t.Fatal(err)
	}
	if got := open.run("", "serve"); got.exit != 1 || !strings.Contains(got.err, "others can write") {
		t.Errorf("%+v", got)
	}
	if got := newHookHome(t, residentPolicy).run("", "serve", "--idle", "50ms"); got.exit != 0 {
		t.Errorf("%+v", got)
	}
}

// Proves FM9, I14: whatever a resident does, no call runs that a process of its own would
// not let run, and none is stopped for it: 9,000 faults with STOPGATE_LONG.
func TestResidentFaults(t *testing.T) {
	rounds := 2
	if os.Getenv("STOPGATE_LONG") != "" {
		rounds = 400
	}
	const hangs = "it hangs"
	h := newHookHome(t, residentPolicy)
	allow := ask.Reply{Kind: ask.Answered}
	text := func(r ask.Reply, q *ask.Request) []byte { return hookserver.Text(r, q.Nonce) }
	faults := []struct {
		what string
		// rules reports that the answer counts.
		rules bool
		do    func(c *net.UnixConn, q *ask.Request)
	}{
		{"it closes", false, func(*net.UnixConn, *ask.Request) {}},
		{"it declines", false, func(c *net.UnixConn, q *ask.Request) { c.Write(text(ask.Reply{Kind: ask.Declined}, q)) }},
		{"half an answer", false, func(c *net.UnixConn, q *ask.Request) { c.Write(text(allow, q)[:20]) }},
		{"no answer of ours", false, func(c *net.UnixConn, _ *ask.Request) { io.WriteString(c, `{"permissionDecision":"allow"}`+"\n") }},
		{"zeros", false, func(c *net.UnixConn, _ *ask.Request) { c.Write(make([]byte, 100)) }},
		{"an answer to another question", false, func(c *net.UnixConn, q *ask.Request) {
			c.Write(hookserver.Text(allow, q.Nonce+"0"))
		}},
		{"more than an answer", false, func(c *net.UnixConn, q *ask.Request) { c.Write(append(text(allow, q), 0)) }},
		{"an answer that says it is long", false, func(c *net.UnixConn, q *ask.Request) {
			c.Write(bytes.Replace(text(allow, q), []byte("Content-Length: 0"), []byte("Content-Length: 9"), 1))
		}},
		{"it asks a person and ends", false, func(c *net.UnixConn, q *ask.Request) { c.Write(text(ask.Reply{Kind: ask.Held}, q)) }},
		{"an answer of another process", false, func(c *net.UnixConn, q *ask.Request) {
			f, err := c.File()
			if err != nil {
				return
			}
			defer f.Close()
			cmd := exec.Command("cat")
			cmd.Stdin, cmd.Stdout = bytes.NewReader(text(allow, q)), f
			_ = cmd.Run()
		}},
		{hangs, false, func(c *net.UnixConn, _ *ask.Request) { io.Copy(io.Discard, c) }},
		{"none: it answers", true, func(c *net.UnixConn, q *ask.Request) { c.Write(text(allow, q)) }},
	}
	ln, err := socket.Listen(h.socket())
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var now atomic.Int64
	var asked atomic.Int64
	go func() {
		for {
			c, err := ln.AcceptUnix()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if q, err := hookserver.Read(c); err == nil {
					asked.Add(1)
					faults[now.Load()].do(c, q)
				}
			}()
		}
	}()
	n := 0
	for round := range rounds {
		for i, f := range faults {
			if f.what == hangs && round%10 != 0 {
				continue // who asks waits for two seconds
			}
			now.Store(int64(i))
			for file, want := range map[string]int{"free/a": 0, "secret": 2} {
				n++
				if f.rules {
					want = 0
				}
				got := h.hook("claude-code", readEvent("/srv/proj", "/srv/proj/"+file, fmt.Sprint("r", n)))
				if got.exit != want || want == 2 && !strings.Contains(got.err, "not that") {
					t.Errorf("%s: %s: %+v, not %d", f.what, file, got, want)
				}
			}
		}
	}
	if asked.Load() != int64(n) {
		t.Errorf("%d of %d asked", asked.Load(), n)
	}
	t.Logf("%d faults", n)
}
