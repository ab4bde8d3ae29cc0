//go:build unix

// Package redistest runs a real Redis server for a test.
package redistest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is a running server on a port of loopback that stays the same.
type Server struct {
	t    testing.TB
	path string
	port int
	cmd  *exec.Cmd
}

// Start starts a server that the test's end stops. Without one on the machine the test
// is skipped, or fails where STOPGATE_REQUIRE_REDIS is set.
func Start(t testing.TB) *Server {
	t.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			s := &Server{t: t, path: path, port: freePort(t)}
			t.Cleanup(s.Stop)
			s.Start()
			return s
		}
	}
	if os.Getenv("STOPGATE_REQUIRE_REDIS") != "" {
		t.Fatal("there is no redis-server, and this run must have one")
	}
	t.Skip("there is no redis-server: apt-get install redis-server (make test does it)")
	return nil
}

func freePort(t testing.TB) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

// URL is where the server is.
func (s *Server) URL() string { return "redis://127.0.0.1:" + strconv.Itoa(s.port) }

// Start starts the server, after Stop on the same port, and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	s.cmd = exec.Command(s.path, "--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", s.t.TempDir(), "--daemonize", "no", "--logfile", "/dev/null")
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	client := s.Client()
	defer client.Close()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := client.Ping(context.Background()).Err()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the Redis server does not answer: %v", err)
		}
	}
}

// Client returns a client of the server.
func (s *Server) Client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + strconv.Itoa(s.port), MaxRetries: -1})
}

// Stop kills the server.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	s.Resume()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// Pause stops the server's clock: it keeps its connections and answers nobody.
func (s *Server) Pause() { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume goes on.
func (s *Server) Resume() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }
