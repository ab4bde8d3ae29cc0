package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stopgate/stopgate/internal/cli"
)

// screen is a command at a terminal of its own.
type screen struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	mu   sync.Mutex
	text strings.Builder
	all  strings.Builder // also what was seen already
	read chan struct{}   // closed when the terminal is
}

// atTerminal starts a command at a terminal, in the directory and state of a server.
func atTerminal(t *testing.T, s *server, args ...string) *screen {
	t.Helper()
	return atTerminalOf(t, s, &pty.Winsize{}, args...)
}

// atTerminalOf is atTerminal with a window of a size.
func atTerminalOf(t *testing.T, s *server, size *pty.Winsize, args ...string) *screen {
	t.Helper()
	x := &screen{t: t, cmd: exec.Command("stopgate", args...), read: make(chan struct{})}
	x.cmd.Dir, x.cmd.Env = s.cmd.Dir, append(s.cmd.Env, "EDITOR=sed -i s/README/NOTES/", "VISUAL=")
	var err error
	if x.tty, err = pty.StartWithSize(x.cmd, size); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(x.read)
		piece := make([]byte, 4096)
		for {
			n, err := x.tty.Read(piece)
			x.mu.Lock()
			x.text.Write(piece[:n])
			x.all.Write(piece[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { x.cmd.Process.Kill(); x.cmd.Wait(); x.tty.Close(); <-x.read })
	return x
}

// sees waits until something new stands on the screen, and returns its groups.
func (x *screen) sees(pattern string) []string {
	x.t.Helper()
	found := x.looks(pattern, 3000)
	if found == nil {
		x.t.Fatalf("%q does not appear in %q", pattern, x.text.String())
	}
	return found
}

// presses types a line until something stands on the screen: what is typed before a question is complete is dropped.
func (x *screen) presses(line, pattern string) {
	x.t.Helper()
	for range 100 {
		if x.types(line); x.looks(pattern, 100) != nil {
			return
		}
	}
	x.t.Fatalf("%q does not appear in %q", pattern, x.text.String())
}

// looks is sees for a number of hundredths of a second; nil if nothing appears.
func (x *screen) looks(pattern string, tries int) []string {
	want := regexp.MustCompile(pattern)
	for range tries {
		x.mu.Lock()
		text := x.text.String()
		if at := want.FindStringSubmatchIndex(text); at != nil {
			found := want.FindStringSubmatch(text)
			x.text.Reset()
			x.text.WriteString(text[at[1]:])
			x.mu.Unlock()
			return found
		}
		x.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

func (x *screen) types(line string) {
	x.t.Helper()
	if _, err := x.tty.WriteString(line + "\n"); err != nil {
		x.t.Fatal(err)
	}
}

// insists types a line until it is not too quick any more, and returns the groups.
func (x *screen) insists(line, pattern string) []string {
	x.t.Helper()
	for {
		x.types(line)
		if found := x.sees(`too quick|` + pattern); found[0] != "too quick" {
			return found
		}
	}
}

// ends waits for the end and compares the exit code.
func (x *screen) ends(code int) {
	x.t.Helper()
	x.cmd.Wait()
	if got := x.cmd.ProcessState.ExitCode(); got != code {
		x.t.Errorf("exit code %d, want %d: %s", got, code, x.text.String())
	}
}

// without runs a command without a terminal.
func without(s *server, args ...string) (out string, code int) {
	cmd := exec.Command("stopgate", args...)
	cmd.Dir, cmd.Env = s.cmd.Dir, s.cmd.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	text, _ := cmd.CombinedOutput()
	return string(text), cmd.ProcessState.ExitCode()
}

const readmeCall = `{"tool":"fs_create_file","args":{"path":"README","content":"b"},"session":"s"}`

// proposes sends a call that waits for people.
func (s *server) proposes(t *testing.T) <-chan map[string]any {
	t.Helper()
	done := make(chan map[string]any, 1)
	go func() {
		for {
			status, a := s.ask(t, "agent-agent-agent", "POST", "/v1/calls", readmeCall)
			if id := fmt.Sprint(a["id"]); status == http.StatusAccepted {
				for status == http.StatusAccepted {
					status, a = s.ask(t, "agent-agent-agent", "GET", "/v1/calls/"+id+"?", "")
					time.Sleep(20 * time.Millisecond)
				}
			}
			if a["code"] == "approval_pending" {
				time.Sleep(20 * time.Millisecond)
				continue
			}
			done <- a
			return
		}
	}()
	return done
}

var questionID = regexp.MustCompile(`(?m)^([A-Z2-7]{26})  .*waiting`)

// waiting waits for the open question.
func (s *server) waiting(t *testing.T) string {
	t.Helper()
	for range 500 {
		out, _ := without(s, "approvals", "list", "--policy", "p.toml")
		if m := questionID.FindStringSubmatch(out); m != nil {
			return m[1]
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("no question")
	return ""
}

// Proves S4, H23, H1: a question is answered at a terminal, with the code that stands
// there; without a terminal, without the code or with a wrong one it is not.
func TestAnswerAtATerminal(t *testing.T) {
	s := newAPI(t)
	answered := s.proposes(t)
	id := s.waiting(t)
	if out, code := without(s, "approvals", "answer", "--policy", "p.toml", id); code != cli.ExitTrouble || !strings.Contains(out, "needs a terminal") {
		t.Errorf("without a terminal: %d %s", code, out)
	}
	if out, code := without(s, "approvals", "watch", "--policy", "p.toml"); code != cli.ExitTrouble || !strings.Contains(out, "needs a terminal") {
		t.Errorf("without a terminal: %d %s", code, out)
	}
	for _, wrong := range []string{"y", "y 00000", "yes", "", "e", "a", "a 1", "a 00000 1"} {
		x := atTerminal(t, s, "approvals", "answer", "--policy", "p.toml", id)
		x.sees(`> `)
		x.types(wrong)
		x.sees("not answered")
		x.ends(cli.ExitTrouble)
	}
	if out, _ := without(s, "approvals", "show", "--policy", "p.toml", id); !strings.Contains(out, "README") || strings.Contains(out, "it was") {
		t.Error(out)
	}
	x := atTerminal(t, s, "approvals", "answer", "--format", "json", "--policy", "p.toml", id)
	code := x.sees(`y (\d{4})`)[1]
	x.sees(`> `)
	x.types("e " + code)
	x.sees(`"id":"` + id + `".*"state":"edited"`)
	x.ends(cli.ExitOK)
	if a := <-answered; a["status"] != "allowed" || fmt.Sprint(a["args"]) != "map[content:b path:NOTES]" {
		t.Errorf("%v", a)
	}
	if out, _ := without(s, "approvals", "list", "--all", "--policy", "p.toml"); !strings.Contains(out, "used") || !strings.Contains(out, "NOTES") {
		t.Error(out)
	}
	for _, args := range [][]string{{"show", "x"}, {"answer", "x"}} {
		if out, code := without(s, "approvals", args[0], "--policy", "p.toml", args[1]); code != cli.ExitTrouble || !strings.Contains(out, "hint: ") {
			t.Error(code, out)
		}
	}
}

// Proves S4, S34: answer offers the grants of a question, and takes one with the code.
func TestGrantAtATerminal(t *testing.T) {
	s := newAPI(t)
	answered := s.proposes(t)
	x := atTerminal(t, s, "approvals", "answer", "--policy", "p.toml", s.waiting(t))
	code := x.sees(`a (\d{4}) 1 +run it, and do not ask again: this file: README\s+` +
		`fs_create_file runs unasked for README, with any /content; its\s+other values stay the same\s+` +
		`a \d{4} 2 +run it, and do not ask again: exactly this\s+fs_create_file runs unasked with the same values\s+> `)[1]
	x.types("a " + code + " 2")
	x.sees("approved")
	x.ends(cli.ExitOK)
	for _, done := range []<-chan map[string]any{answered, s.proposes(t)} {
		if a := <-done; a["status"] != "allowed" {
			t.Errorf("%v", a)
		}
	}
}

// Proves S5, Q8, S34: whoever watches can answer; a grant answers the next call, is
// listed and taken back.
func TestWatchAtATerminal(t *testing.T) {
	s := newAPI(t)
	x := atTerminal(t, s, "approvals", "watch", "--policy", "p.toml")
	x.sees("Waiting for questions")
	x.types("y") // ahead of any question
	x.sees("no question")
	answered := s.proposes(t)
	x.sees("README")
	x.sees("> ")
	grant := x.insists("a yes", `Grant ([A-Z2-7]{26}) holds`)[1]
	if a := <-answered; a["status"] != "allowed" {
		t.Fatal(a)
	}
	if a := <-s.proposes(t); a["status"] != "allowed" {
		t.Fatal(a)
	}
	if out, code := without(s, "grants", "list", "--policy", "p.toml"); code != cli.ExitOK || !strings.Contains(out, grant) || !strings.Contains(out, "used 1") {
		t.Error(code, out)
	}
	if out, code := without(s, "grants", "revoke", "--policy", "p.toml", grant); code != cli.ExitOK || !strings.Contains(out, "revoked") {
		t.Error(code, out)
	}
	if out, code := without(s, "grants", "revoke", "--format", "json", "--policy", "p.toml", grant); code != cli.ExitOK || !strings.Contains(out, `{"id":"`+grant+`"`) || !strings.Contains(out, `"revoked":"2`) {
		t.Error(code, out)
	}
	if out, code := without(s, "grants", "revoke", "--policy", "p.toml", "x"); code != cli.ExitTrouble || !strings.Contains(out, "hint: ") {
		t.Error(code, out)
	}
	answered = s.proposes(t)
	x.sees("README")
	x.sees("> ")
	x.types("r write a NEWS file instead")
	if a := <-answered; a["status"] != "denied" || a["public"] != "write a NEWS file instead" {
		t.Errorf("%v", a)
	}
	x.cmd.Process.Signal(os.Interrupt)
	x.ends(cli.ExitOK)
	if out, _ := without(s, "grants", "list", "--all", "--format", "json", "--policy", "p.toml"); !strings.Contains(out, `"revoked"`) {
		t.Error(out)
	}
}

// Proves S59: a lockdown ends calls that wait, denies every other, survives a restart,
// and is lifted by a person only.
func TestLockdownFromTheCommandLine(t *testing.T) {
	s := newAPI(t)
	x := atTerminal(t, s, "approvals", "watch", "--policy", "p.toml")
	x.sees("Waiting for questions")
	answered := s.proposes(t)
	x.sees("> ")
	if out, code := without(s, "lockdown", "--policy", "p.toml", "--reason", "look at the logs"); code != cli.ExitOK || !strings.Contains(out, "LOCKDOWN since") {
		t.Fatal(code, out)
	}
	if a := <-answered; a["code"] != "lockdown" {
		t.Errorf("a call that waits: %v", a)
	}
	x.sees("answered or gone")
	if code := s.stop(t); code != cli.ExitOK {
		t.Error(code, s.stderr)
	}
	if !strings.Contains(s.stderr.String(), `reason="look at the logs"`) {
		t.Error(s.stderr)
	}
	s = startUp(t, s.cmd.Dir, "--policy", "p.toml", "--api-listen", "127.0.0.1:0")
	if a := <-s.proposes(t); a["code"] != "lockdown" {
		t.Errorf("after a restart: %v", a)
	}
	if out, code := without(s, "lockdown", "--lift", "--policy", "p.toml"); code != cli.ExitTrouble || !strings.Contains(out, "needs a terminal") {
		t.Error(code, out)
	}
	lift := atTerminal(t, s, "lockdown", "--lift", "--policy", "p.toml")
	lift.sees("Type")
	lift.types("00000")
	lift.sees("not lifted")
	lift.ends(cli.ExitTrouble)
	if out, _ := without(s, "lockdown", "--status", "--format", "json", "--policy", "p.toml"); !strings.Contains(out, `"locked":true`) {
		t.Error(out)
	}
	lift = atTerminal(t, s, "lockdown", "--lift", "--policy", "p.toml")
	code := lift.sees(`Type (\d{4})`)[1]
	lift.sees("lift it: ")
	lift.types(code)
	lift.sees("no lockdown")
	lift.ends(cli.ExitOK)
	answered = s.proposes(t)
	x.sees("> ")
	x.types("y")
	var after map[string]any
	for after == nil { // a yes that comes with the question is not taken
		select {
		case after = <-answered:
		case <-time.After(time.Second):
			x.types("y")
		}
	}
	if after["status"] != "allowed" {
		t.Errorf("after the lift: %v", after)
	}
	out, _ := without(s, "log", "--policy", "p.toml", "--format", "json")
	if !strings.Contains(out, `"event":"lockdown"`) || !strings.Contains(out, `"event":"lifted"`) || !strings.Contains(out, ": look at the logs") {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join(s.cmd.Dir, ".local", "state", "stopgate", "stopgate.db")); err != nil {
		t.Error(err)
	}
}
