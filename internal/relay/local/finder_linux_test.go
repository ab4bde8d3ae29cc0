package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/internal/relay"
	"github.com/stopgate/stopgate/internal/relay/local"
	"github.com/stopgate/stopgate/internal/system/peer"
)

// TestMain lets this program, or a copy of it, be a gate: GATE is how it behaves, and a path.
func TestMain(m *testing.M) {
	how, path, gate := strings.Cut(os.Getenv("GATE"), " ")
	if !gate {
		os.Exit(m.Run())
	}
	if how == "broken" {
		fmt.Fprintln(os.Stderr, "stopgate: the policy has mistakes")
		os.Exit(1)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		os.Exit(3)
	}
	fmt.Println("ready")
	switch how {
	case "gate":
		http.Serve(ln, handler("v1"))
	case "large": // takes a while to end
		memory := make([]byte, 256<<20)
		for i := 0; i < len(memory); i += 4096 {
			memory[i] = 1
		}
		fmt.Println("large")
		http.Serve(ln, handler("v1"))
		runtime.KeepAlive(memory)
	case "other": // decides by other files
		http.Serve(ln, handler("v2"))
	case "nonsense":
		http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "OK") }))
	case "hang":
		for {
			if _, err := ln.Accept(); err != nil {
				os.Exit(3)
			}
		}
	case "exec": // becomes another program, which has its sockets
		c, err := ln.Accept()
		if err != nil {
			os.Exit(3)
		}
		f, _ := c.(*net.UnixConn).File()
		syscall.Dup2(int(f.Fd()), 1)
		text, _ := json.Marshal(description("v1"))
		syscall.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("sleep 0.3; printf 'HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%%s' '%s'; sleep 60", len(text), text)}, nil)
	case "pass": // another process writes
		c, err := ln.Accept()
		if err != nil {
			os.Exit(3)
		}
		f, _ := c.(*net.UnixConn).File()
		text, _ := json.Marshal(description("v1"))
		cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf("printf 'HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%%s' '%s'", len(text), text))
		cmd.Stdout = f
		cmd.Run()
		select {}
	}
	os.Exit(0)
}

func description(version string) decide.Description {
	return decide.Description{Version: version, Files: []decide.PolicyFile{{Path: "/p", SHA256: "aa", Trusted: true}}}
}

func handler(version string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/gate" {
			fmt.Fprint(w, os.Getpid())
			return
		}
		json.NewEncoder(w).Encode(description(version))
	})
}

// place returns the path of a socket, which must be short.
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "gate.sock")
}

// run starts a program as a gate.
func run(t *testing.T, program, how, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "GATE="+how+" "+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if _, err := io.ReadFull(out, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func own(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func finder(paths ...string) *local.Finder {
	return &local.Finder{Want: func() (decide.Description, error) { return description("v1"), nil }, Paths: paths, Self: peer.Own()}
}

func code(err error) string {
	var p *relay.Problem
	if errors.As(err, &p) {
		return p.Code
	}
	return fmt.Sprint(err)
}

// A gate is accepted if it is the same program and decides by the same files.
func TestFind(t *testing.T) {
	path := place(t)
	if _, err := finder(path).Dial(t.Context()); code(err) != relay.Unreachable {
		t.Error(err)
	}
	run(t, own(t), "gate", path)
	f := finder(place(t), path)
	for range 3 {
		c, err := f.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	if d, err := f.Describe(t.Context()); err != nil || d.Version != "v1" {
		t.Error(d, err)
	}
}

// Proves FM9, S4: another program at the socket, a copy of the program, one that hangs or answers
// nonsense, and one whose bytes another process or another program writes, is no gate.
func TestFakeGates(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "copy")
	text, err := os.ReadFile(own(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, text, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, program, how, code string }{
		{"a copy", copied, "gate", relay.Untrusted},
		{"other files", own(t), "other", relay.Differs},
		{"nonsense", own(t), "nonsense", relay.Unreachable},
		{"hangs", own(t), "hang", relay.Unreachable},
		{"becomes another program", own(t), "exec", relay.Untrusted},
		{"passes its socket on", own(t), "pass", relay.Untrusted},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := place(t)
			run(t, c.program, c.how, path)
			conn, err := finder(path).Dial(t.Context())
			if err == nil {
				conn.Close()
				t.Fatal("accepted")
			}
			if code(err) != c.code {
				t.Error(err)
			}
		})
	}
}

// A gate that was accepted and is replaced, by a fake or by one with other files, is not asked again.
func TestReplacedSocket(t *testing.T) {
	path := place(t)
	first := run(t, own(t), "gate", path)
	f := finder(path)
	c, err := f.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	first.Process.Kill()
	first.Wait()
	os.Remove(path)
	run(t, own(t), "other", path)
	if _, err := f.Dial(t.Context()); code(err) != relay.Differs {
		t.Error(err)
	}
}

// An open connection ends when another process writes to it, or the gate dies.
func TestGateDies(t *testing.T) {
	path := place(t)
	gate := run(t, own(t), "gate", path)
	c, err := finder(path).Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	gate.Process.Kill()
	gate.Wait()
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := c.Read(make([]byte, 10)); err == nil {
		t.Errorf("%d bytes of a dead gate", n)
	}
}

// A gate that is ending has lost its program and still has its socket. It is not taken for a fake, and
// another one is started when it is gone.
func TestGateIsEnding(t *testing.T) {
	path := place(t)
	gate := run(t, own(t), "large", path)
	f := finder(path)
	f.Start = func(at string) (<-chan error, error) {
		os.Remove(at)
		run(t, own(t), "gate", at)
		return make(chan error), nil
	}
	c, err := f.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	old := c.(interface{ PID() int }).PID()
	c.Close()
	gate.Process.Kill()
	for is := old; is == old; {
		c, err := f.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		is = c.(interface{ PID() int }).PID()
		c.Close()
	}
}

// Of ten programs that start at once, one starts the gate, and all use it.
func TestOneGateIsStarted(t *testing.T) {
	path := filepath.Join(filepath.Dir(place(t)), "new", "gate.sock")
	var started atomic.Int64
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			f := finder(path)
			f.Start = func(at string) (<-chan error, error) {
				started.Add(1)
				time.Sleep(50 * time.Millisecond)
				run(t, own(t), "gate", at)
				return make(chan error), nil
			}
			c, err := f.Dial(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			c.Close()
		})
	}
	all.Wait()
	if n := started.Load(); n != 1 {
		t.Errorf("%d gates were started", n)
	}
}

// A gate that does not start is an error with its last lines; a program that stops waiting is not kept.
func TestStartFails(t *testing.T) {
	f := finder(place(t))
	f.Start = (&local.Starter{}).Start
	t.Setenv("GATE", "broken x")
	_, err := f.Dial(t.Context())
	if code(err) != relay.Unreachable || !strings.Contains(err.Error(), "the policy has mistakes") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.Start = func(string) (<-chan error, error) {
		cancel()
		return make(chan error), nil
	}
	if _, err := f.Dial(ctx); err == nil {
		t.Error("no error")
	}
}
