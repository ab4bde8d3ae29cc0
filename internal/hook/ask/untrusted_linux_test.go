package ask_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/system/peer"
	"github.com/stopgate/stopgate/internal/testkit/hookserver"
)

// placeOf sets the variables of a new user, with a home directory or with one for the state, and returns
// the path of the socket of the user's resident.
func placeOf(t *testing.T, moved bool) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sg") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", "")
	if moved {
		t.Setenv("XDG_STATE_HOME", dir)
	}
	path, ok := ask.Path()
	if !ok {
		t.Fatal("no place")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// residence starts a listener at the socket of a new user's resident.
func residence(t *testing.T, moved bool) *net.UnixListener {
	t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: placeOf(t, moved), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

// listen starts a listener at the socket of this user's resident, and counts the bytes that it
// receives.
func listen(t *testing.T) (*net.UnixListener, *atomic.Int64) {
	t.Helper()
	ln := residence(t, true)
	got := new(atomic.Int64)
	go func() {
		for {
			c, err := ln.AcceptUnix()
			if err != nil {
				return
			}
			n, _ := c.Read(make([]byte, 1000))
			got.Add(int64(n))
			c.Close()
		}
	}()
	return ln, got
}

// TestMain lets this program, or a copy of it, ask with the command line of a variable. Its exit
// status is the result, and it prints the input that it read.
func TestMain(m *testing.M) {
	line, asks := os.LookupEnv("ASK_RESIDENT")
	if !asks {
		os.Exit(m.Run())
	}
	if path, connects := strings.CutPrefix(line, "connect "); connects {
		c, err := net.Dial("unix", path)
		if err != nil {
			os.Exit(9)
		}
		_, _ = io.Copy(io.Discard, c)
		os.Exit(0)
	}
	if path, serves := strings.CutPrefix(line, "listen "); serves {
		serve(path)
	}
	a := ask.Resident(strings.Fields(line))
	if a.Answered() {
		os.Exit(a.Write(os.Stdout, os.Stderr))
	}
	os.Stderr.WriteString(a.Spent.String())
	if _, err := io.Copy(os.Stdout, a.Input()); err != nil {
		os.Exit(9)
	}
	os.Exit(0)
}

// serve answers requests at a path until the process is killed.
func serve(path string) {
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		os.Exit(9)
	}
	os.Stdout.WriteString(".")
	for {
		c, err := ln.AcceptUnix()
		if err != nil {
			os.Exit(9)
		}
		if q, err := hookserver.Read(c); err == nil {
			c.Write(hookserver.Text(ask.Reply{Kind: ask.Answered, Out: []byte("served")}, q.Nonce))
		}
		c.Close()
	}
}

// Proves FM9: nothing is sent to a process that does not run the same file, or that sees other
// files.
func TestNothingIsSentToOthers(t *testing.T) {
	_, got := listen(t)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	asks := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "ASK_RESIDENT=claude-code")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(copied, text, 0o700); err != nil {
		t.Fatal(err)
	}
	asks(copied)
	if n := got.Load(); n != 0 {
		t.Errorf("%d bytes were sent to another file", n)
	}
	for _, flag := range []string{"--mount", "--user", "--pid"} {
		if exec.Command("unshare", flag, "--fork", "true").Run() != nil {
			continue // unavailable, or not permitted
		}
		asks("unshare", flag, "--fork", own)
		if n := got.Load(); n != 0 {
			t.Errorf("%d bytes were sent from behind unshare %s", n, flag)
		}
	}
	asks(own)
	if got.Load() == 0 {
		t.Error("nothing was sent to the same file either")
	}
}

// Proves FM9: an event is sent to the stopgate in the same directory, and to no other program.
func TestProgramsThatAreAsked(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"stopgate", "stopgate-hook", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, believed := range map[string]bool{"stopgate": true, "stopgate-hook": true, "other": false} {
		path := placeOf(t, true)
		server := exec.Command(filepath.Join(dir, name))
		server.Env = append(os.Environ(), "ASK_RESIDENT=listen "+path)
		ready, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		if n, err := ready.Read(make([]byte, 1)); n == 0 {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(dir, "stopgate-hook"))
		cmd.Env = append(os.Environ(), "ASK_RESIDENT=claude-code")
		cmd.Stdin = strings.NewReader("{}")
		out, err := cmd.Output()
		if err != nil || (string(out) == "served") != believed {
			t.Errorf("%s: %q, %v", name, out, err)
		}
		_ = server.Process.Kill()
		_ = server.Wait()
	}
}

// Proves FM9: processes of this user that see the same files are served, others are not.
func TestWhoIsServed(t *testing.T) {
	dir, err := os.MkdirTemp("", "sg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "copy")
	if err := os.WriteFile(copied, text, 0o755); err != nil {
		t.Fatal(err)
	}
	self := ask.Own()
	served := func(as *syscall.Credential, program ...string) (yes bool) {
		t.Helper()
		cmd := exec.Command(program[0], program[1:]...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "ASK_RESIDENT=connect " + path}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c, err := ln.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := c.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		if err := raw.Control(func(fd uintptr) { yes = self.Serves(fd) }); err != nil {
			t.Fatal(err)
		}
		c.Close()
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		return yes
	}
	if !served(nil, own) || !served(nil, copied) {
		t.Error("a process of the same user is not served")
	}
	for _, flag := range []string{"--mount", "--user", "--pid"} {
		if exec.Command("unshare", flag, "--fork", "true").Run() == nil && served(nil, "unshare", flag, "--fork", own) {
			t.Errorf("a process from behind unshare %s is served", flag)
		}
	}
	if os.Geteuid() == 0 && served(&syscall.Credential{Uid: 65534, Gid: 65534}, copied) { // only root can become another user
		t.Error("another user is served")
	}
	self = peer.Self{}
	if served(nil, own) {
		t.Error("a process that knows nothing of itself serves another one")
	}
}

// Proves FM9: a socket path that depends on the working directory is not used.
func TestPath(t *testing.T) {
	for _, c := range []struct {
		home, state string
		ok          bool
	}{
		{"/h", "", true}, {"/h", "/s", true}, {"", "/s", true}, {"", "", false}, {"h", "/s", false}, {"/h", "s", false},
		{"/h", "/" + string(make([]byte, 100)), false},
	} {
		state := c.state
		if len(state) > 50 {
			state = "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		}
		t.Setenv("HOME", c.home)
		t.Setenv("XDG_STATE_HOME", state)
		if path, ok := ask.Path(); ok != c.ok {
			t.Errorf("%q %q: %q %t", c.home, c.state, path, ok)
		}
	}
}
