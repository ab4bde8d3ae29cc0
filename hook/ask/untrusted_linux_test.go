package ask_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stopgate/stopgate/hook/ask"
)

// listen starts a listener where the resident of this user would be, and counts the bytes
// that arrive there.
func listen(t *testing.T) (*net.UnixListener, *atomic.Int64) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("HOME", dir)
	path, ok := ask.Path()
	if !ok {
		t.Fatal("no place")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
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

// TestMain lets this program, or a copy of it, be the one that asks.
func TestMain(m *testing.M) {
	if os.Getenv("ASK_RESIDENT") != "" {
		a := ask.Resident([]string{"claude-code"})
		if a.Answered() {
			os.Exit(7)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Proves FM9: nothing is sent to a process that does not run the asker's own file, or that
// sees other files.
func TestNothingIsSentToOthers(t *testing.T) {
	_, got := listen(t)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	asks := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "ASK_RESIDENT=1")
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
			continue // not here, or not for us
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

// Proves FM9: there is no place for a resident that means another one elsewhere.
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
