package socket_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/system/socket"
)

// Proves S43: only this user can connect to the socket; one that is served is not replaced, a stale
// one is, and Close removes it.
func TestListen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "api.sock")
	first, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{path: fs.ModeSocket | 0o600, filepath.Dir(path): fs.ModeDir | 0o700, path + ".lock": 0o600} {
		if at, err := os.Lstat(name); err != nil || at.Mode() != want {
			t.Errorf("%s: %v, %v", name, at.Mode(), err)
		}
	}
	if _, err := socket.Listen(path); !errors.Is(err, socket.ErrInUse) {
		t.Errorf("a socket that is served: %v", err)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if left, err := filepath.Glob(path + ".new*"); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}

	// A stale socket of a dead process.
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	// Leftovers of a process that died during Listen.
	if err := os.Mkdir(path+".new", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".new/s", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if err := first.Close(); err == nil {
		t.Error("closed twice")
	}
	if c, err := net.Dial("unix", path); err != nil {
		t.Errorf("a second Close took another's socket away: %v", err)
	} else {
		c.Close()
	}
}

// If several start at once, one gets the socket.
func TestOneListener(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	var all sync.WaitGroup
	var mu sync.Mutex
	var got []*socket.Listener
	for range 20 {
		all.Go(func() {
			l, err := socket.Listen(path)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				got = append(got, l)
			} else if !errors.Is(err, socket.ErrInUse) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(got) != 1 {
		t.Fatalf("%d listeners", len(got))
	}
	got[0].Close()
}

// Other files are not replaced.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := socket.Listen(file); !errors.Is(err, socket.ErrOther) {
		t.Error(err)
	}
	if text, _ := os.ReadFile(file); string(text) != "x" {
		t.Error("the file was changed")
	}
	if _, err := socket.Listen(filepath.Join(dir, strings.Repeat("x", 200))); !errors.Is(err, socket.ErrTooLong) {
		t.Error(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := socket.Listen(filepath.Join(dir, "s")); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("a directory for everybody: %v", err)
	}
	if _, err := socket.Listen(filepath.Join(file, "s")); err == nil {
		t.Error("a directory that is a file")
	}
}
