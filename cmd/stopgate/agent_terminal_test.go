package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/testkit/vt"
)

// seat is a person at a terminal of his own, before the agent.
type seat struct {
	t      *testing.T
	dir    string
	env    []string
	master *os.File
	slave  *os.File
	cmd    *exec.Cmd
	screen *vt.Screen
	before string // the terminal's settings
	read   chan struct{}
	mu     sync.Mutex
	raw    strings.Builder
}

// agentHome is a directory with an environment of its own.
func agentHome(t *testing.T, files map[string]string) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	return dir, append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_RUNTIME_DIR=", "TERM=xterm", "NO_COLOR=", "VISUAL=", "EDITOR=./editor")
}

// sitDown opens a terminal and starts the agent at it.
func sitDown(t *testing.T, dir string, env []string, change func(cmd *exec.Cmd), args ...string) *seat {
	t.Helper()
	return sitDownBefore(t, 80, dir, env, change, args...)
}

// sitDownBefore is sitDown before a window of some columns.
func sitDownBefore(t *testing.T, columns uint16, dir string, env []string, change func(cmd *exec.Cmd), args ...string) *seat {
	t.Helper()
	s := &seat{t: t, dir: dir, env: env, read: make(chan struct{})}
	var err error
	if s.master, s.slave, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(s.master, &pty.Winsize{Cols: columns, Rows: 50}); err != nil {
		t.Fatal(err)
	}
	s.screen = vt.New(int(columns), 50, s.master)
	s.before = s.settings()
	s.cmd = exec.Command("stopgate", append([]string{"agent"}, args...)...)
	s.cmd.Dir, s.cmd.Env = dir, env
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.slave, s.slave, s.slave
	if change != nil {
		change(s.cmd)
	}
	s.cmd.ExtraFiles = []*os.File{s.slave} // the controlling terminal, whatever standard input is
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.read)
		piece := make([]byte, 4096)
		for {
			n, err := s.master.Read(piece)
			s.screen.Write(piece[:n])
			s.mu.Lock()
			s.raw.Write(piece[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.slave.Close()
		s.master.Close()
		<-s.read
		s.screen.Close()
	})
	return s
}

// settings are the terminal's, as stty prints them.
func (s *seat) settings() string {
	cmd := exec.Command("stty", "-g")
	cmd.Stdin = s.slave
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return string(out)
}

// sees waits until the screen shows something.
func (s *seat) sees(patterns ...string) {
	s.t.Helper()
	for _, p := range patterns {
		want := regexp.MustCompile(p)
		for end := time.Now().Add(15 * time.Second); !want.MatchString(s.screen.String()); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				s.t.Fatalf("%q is not on the screen:\n%s", p, s.screen)
			}
		}
	}
}

func (s *seat) types(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.master, text); err != nil {
		s.t.Fatal(err)
	}
}

// leaves leaves the agent with Ctrl-D when it shows its prompt: keys during a turn do not count.
func (s *seat) leaves() {
	s.t.Helper()
	s.sees("(?m)^>$")
	s.types("\x04")
	s.ends(cli.ExitOK)
}

// ends waits for the end, compares the exit code, and looks whether the terminal is as
// it was.
func (s *seat) ends(code int) {
	s.t.Helper()
	late := time.AfterFunc(time.Minute, func() { s.cmd.Process.Kill() })
	s.cmd.Wait()
	late.Stop()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d:\n%s", got, code, s.screen)
	}
	if after := s.settings(); after != s.before {
		s.t.Errorf("the terminal is left as %s, it was %s", after, s.before)
	}
	if unknown := s.screen.Unknown(); len(unknown) > 0 {
		s.t.Errorf("drawn with %q", unknown)
	}
}

func (s *seat) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

func (s *seat) file(name string) string {
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return "(none)"
	}
	return string(text)
}

// Proves D26-16, D26-19, D26-20, D26-22, H15: the tour of a newcomer, at a terminal, with
// nothing set up.
func TestAgentTour(t *testing.T) {
	dir, env := agentHome(t, map[string]string{"README.md": "x"})
	s := sitDown(t, dir, env, nil, "--pace", "1000")
	s.sees("no stopgate.toml found", "Press Enter for a tour", "(?m)^>$")
	s.types("\r")
	// A yes before the content was seen would be asked again: the test waits for it.
	s.sees("✓ fs_list_files", "README.md", "fs_create_file wants to run", `content +[0-9.]+ K?B`, "n no")
	s.types("y")
	s.sees("approved by", "fs_modify_file wants to run", `\+The question came before`, "y once")
	s.types("p")
	s.sees(`patterns  \[\{"old"`)
	s.types("?")
	s.sees("print everything in full", "y once")
	s.types("y")
	s.sees("✗ fs_create_file", "secrets stay out of reach", `run_command wants to run`, "y once")
	s.types("y")
	s.sees(`\d+ stopgate-tour/notes.md`, `command  "rm -r stopgate-tour"`, "y once")
	s.types("r")
	s.sees("why not")
	s.types("I want to look at it\r")
	s.sees("refused: I want to look at it", "6 calls: 4 ran, 2 refused; 4 prompts; the model was stopped once; .* not", `(?m)^>$`)
	s.leaves()
	if !strings.Contains(s.file("stopgate-tour/notes.md"), "before the second line") || s.file(".env") != "(none)" {
		t.Error("the files are not as the tour says")
	}
	if !strings.Contains(s.written(), "\x1b[1m") {
		t.Error("no colour")
	}
}

const writeScript = `model stopgate-test
turn
say I write it.
call fs_create_file
  path string a.txt
  content repeat 40 line %d
turn
say Done.
turn
say And again.
`

// Proves H3, S52: the editor has the terminal for itself; what comes back runs. A grant
// says which rule would say it for good.
func TestAgentKeys(t *testing.T) {
	dir, env := agentHome(t, map[string]string{
		"script": writeScript, "editor": "#!/bin/sh\nstty -a | grep -q -- '-icanon' && exit 1\nsed -i s/a.txt/b.txt/ \"$1\"\n",
	})
	s := sitDown(t, dir, env, nil, "--script", "script", "--pace", "0")
	s.sees("(?m)^>$")
	s.types("write\r")
	s.sees("y once")
	s.types("a")
	s.sees("always: in this conversation", `/path = "a.txt"`, `\[tools.fs_create_file.policy\] in stopgate.toml`, `\{ arg = "/path", const = "a.txt", mode = "unattended" \},`)
	s.types("\x1b")
	s.sees("Nothing was granted")
	s.types("e")
	s.sees("changed to .*b.txt", "edited by", "Done.", "(?m)^>$")
	s.types("/quit\r")
	s.ends(cli.ExitOK)
	if s.file("a.txt") != "(none)" || !strings.HasPrefix(s.file("b.txt"), "line 1\n") {
		t.Error("the edit did not run")
	}
}

// Proves D26-24: however the agent ends, the terminal is as it was.
func TestAgentGivesTheTerminalBack(t *testing.T) {
	dir, env := agentHome(t, map[string]string{"script": writeScript})
	for name, leave := range map[string]func(s *seat){
		"Ctrl-C twice":   func(s *seat) { s.types("\x03"); s.sees("interrupted|ending it"); s.types("\x03\x03") },
		"Ctrl-C at once": func(s *seat) { s.types("\x03\x03") },
		"a signal":       func(s *seat) { s.cmd.Process.Signal(syscall.SIGTERM) },
		"no and Ctrl-D":  func(s *seat) { s.types("n"); s.sees("not run: say what to do", "(?m)^>$"); s.types("\x04") },
	} {
		t.Run(name, func(t *testing.T) {
			s := sitDown(t, dir, env, nil, "--script", "script", "--pace", "20")
			s.sees("(?m)^>$")
			s.types("write\r")
			s.sees("y yes, when complete")
			leave(s)
			s.cmd.Wait()
			if after := s.settings(); after != s.before {
				t.Errorf("the terminal is left as %s, it was %s", after, s.before)
			}
			if s.file("a.txt") != "(none)" {
				t.Error("it ran")
			}
		})
	}
}

// A terminal that cannot draw gets lines and takes lines; nothing is coloured for who
// wants no colour.
func TestAgentOnDumbTerminals(t *testing.T) {
	dir, env := agentHome(t, map[string]string{"script": writeScript})
	s := sitDown(t, dir, append(env, "TERM=dumb"), nil, "--script", "script", "--pace", "0", "--style", "json")
	s.sees("Write what it shall do")
	s.types("write\n")
	s.sees("y once")
	s.types("maybe\n")
	s.sees("type one letter and Enter")
	s.types("y\n")
	s.sees(`"path": "a.txt"`, "approved by", "Done.", "1 call: 1 ran")
	s.types("\x04")
	s.ends(cli.ExitOK)
	if strings.Contains(s.written(), "\x1b") || strings.Contains(s.written(), "✓") {
		t.Errorf("%q", s.written())
	}
	s = sitDown(t, dir, append(env, "NO_COLOR=1"), nil, "--script", "script", "--pace", "0")
	s.sees("(?m)^>$")
	s.leaves()
	if regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(s.written()) {
		t.Errorf("%q", s.written())
	}
}

// With standard output elsewhere the terminal is for questions alone; a message may come
// from standard input.
func TestAgentInAPipe(t *testing.T) {
	dir, env := agentHome(t, map[string]string{"script": writeScript})
	var out strings.Builder
	s := sitDown(t, dir, env, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout = strings.NewReader("write it\n"), &out
	}, "--script", "script", "--pace", "0")
	s.sees("y once")
	s.types("y")
	s.sees("1 call: 1 ran")
	s.ends(cli.ExitOK)
	if out.String() != "I write it.\nDone.\n" || s.file("a.txt") == "(none)" {
		t.Errorf("%q", &out)
	}
}

// Proves I23: where the terminal is closed over a question, the call has its last row before
// the agent ends.
func TestAgentWhoseTerminalIsClosed(t *testing.T) {
	handled := make(chan os.Signal, 1) // a child of a process that ignores SIGHUP would ignore it too
	signal.Notify(handled, syscall.SIGHUP)
	defer signal.Stop(handled)
	dir, env := agentHome(t, map[string]string{
		"script": "model stopgate-test\nturn\ncall run_command\n  command string echo over\n",
		"p.toml": "version = 1\n[tools.run_command.policy]\nrun = \"ask\"\n",
	})
	s := sitDown(t, dir, env, nil, "--script", "script", "--pace", "0", "--policy", "p.toml")
	s.sees("(?m)^>$")
	s.types("go\r")
	s.sees("y once")
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()
	cmd := exec.Command("stopgate", "log", "--format", "json")
	cmd.Dir, cmd.Env = dir, env
	if rows, err := cmd.Output(); err != nil || !strings.Contains(string(rows), `"event":"asked"`) || !strings.Contains(string(rows), `"kind":"decision"`) {
		t.Errorf("%v\n%s", err, rows)
	}
}

// An agent that was started to outlive its terminal, as nohup does, goes on.
func TestAgentUnderNohup(t *testing.T) {
	dir, env := agentHome(t, map[string]string{
		"script": "model stopgate-test\nturn\ncall run_command\n  command string kill -s HUP $PPID\nturn\nsay It goes on.\n",
		"p.toml": "version = 1\n[tools.run_command.policy]\nrun = \"unattended\"\n",
	})
	cmd := exec.Command("/bin/sh", "-c", `trap '' HUP; exec stopgate agent --script script --pace 0 --policy p.toml go`)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "It goes on.") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Proves S7 for a process: killed while a command runs, it takes the command along; the
// conversation goes on, and the model is told.
func TestAgentIsKilledAndResumed(t *testing.T) {
	dir, env := agentHome(t, map[string]string{
		"script": "model stopgate-test\nturn\ncall run_command\n  command string echo $$ > begun; sleep 1000; echo over\nturn\nsay I was interrupted.\n",
		"p.toml": "version = 1\n[tools.run_command.policy]\nrun = \"ask\"\n",
	})
	args := []string{"--script", "script", "--pace", "0", "--policy", "p.toml"}
	s := sitDown(t, dir, env, nil, args...)
	s.sees("(?m)^>$")
	s.types("go\r")
	s.sees("y once")
	s.types("y")
	s.sees("▸ run_command")
	for end := time.Now().Add(20 * time.Second); s.file("begun") == "(none)" && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	s.cmd.Process.Kill()
	s.cmd.Wait()
	s.gone("begun")

	s = sitDown(t, dir, env, nil, append(args, "--resume")...)
	s.sees("resumed: 4 entries. It ended where the model has to speak")
	s.types("\r")
	s.sees("I was interrupted.", "(?m)^>$")
	s.leaves()
	cmd := exec.Command("stopgate", "agent", "--list", "--format", "json")
	cmd.Dir, cmd.Env = dir, env
	if list, err := cmd.Output(); err != nil || strings.Count(string(list), "\n") != 1 || !strings.Contains(string(list), `"entries":5`) {
		t.Errorf("%v %s", err, list)
	}
}
