//go:build unix

// Package postgres starts PostgreSQL servers for tests.
//
//	location := postgres.Database(t) // an empty database of a server that the whole test binary shares
//
//	s := postgres.Start(t, postgres.Durable) // a server of this test, to stop, restart and suspend
//	location := s.Database(t)
//
// The server is the one of the system's packages. A test fails where it is not installed. Servers
// listen on a Unix socket in a directory of their own, run as another user than root, and end with
// the test binary, however that ends.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Mode is how a server treats the disk.
type Mode bool

// The modes.
const (
	Fast    Mode = false // it does not sync: for tests without crashes of the machine
	Durable Mode = true
)

// Server is a running server.
type Server struct {
	bin, dir string // of the programs; of the socket, with the data below it
	as       *syscall.SysProcAttr
	options  string
	env      []string       // of its programs, in addition
	alive    io.WriteCloser // the server ends when it is closed
	guard    *exec.Cmd
}

var (
	shared     = sync.OnceValues(func() (*Server, error) { return start(Fast, false) })
	databases  atomic.Int64
	errMissing = errors.New("PostgreSQL is not installed, and the tests of the store need it: apt-get install -y postgresql")
)

// Database returns the URL of an empty database of the server that the test binary shares.
func Database(t testing.TB) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s.Database(t)
}

// Start starts a server for one test.
func Start(t testing.TB, mode Mode) *Server {
	t.Helper()
	s, err := start(mode, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	return s
}

// Database returns the URL of an empty database, which is dropped after the test.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), databases.Add(1))
	if err := s.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)") })
	return s.URL(name)
}

// URL returns the URL of a database of the server.
func (s *Server) URL(name string) string {
	return "postgres://postgres@/" + name + "?" + url.Values{"host": {s.dir}}.Encode()
}

// Socket returns the path of the server's socket.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// Data returns the directory of the data.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// Exec runs a statement as the superuser, in the database that is always there.
func (s *Server) Exec(query string, args ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, query, args...)
	return err
}

// Stop stops the server without finishing anything, as a crash does.
func (s *Server) Stop() error { return s.ctl("stop", "-m", "immediate") }

// Run starts the server again.
func (s *Server) Run() error {
	return s.ctl("start", "-o", s.options, "-l", filepath.Join(s.dir, "log"))
}

// Backends returns the processes of the server that serve clients.
func (s *Server) Backends() (pids []int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int])
}

// Log returns what the server has written to its log.
func (s *Server) Log() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(text)
}

func (s *Server) ctl(args ...string) error {
	return s.command("pg_ctl", append([]string{"-D", s.Data(), "-w", "-t", "60"}, args...)...)
}

func (s *Server) command(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir, cmd.SysProcAttr, cmd.Env = s.dir, s.as, append(os.Environ(), s.env...)
	// A file, not a pipe: the server inherits it and would keep a pipe open.
	out, err := os.CreateTemp("", "pg")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%s %s: %w\n%s\n%s", program, strings.Join(args, " "), err, text, s.Log())
	}
	return nil
}

func start(mode Mode, clocked bool) (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin}
	if s.dir, err = os.MkdirTemp("/tmp", "sgpg"); err != nil {
		return nil, err
	}
	if err := s.setUser(); err != nil {
		return nil, err
	}
	s.options = "-c listen_addresses='' -c unix_socket_directories='" + s.dir + "' -c max_connections=300 -c shared_buffers=64MB -c jit=off -c max_locks_per_transaction=256"
	if mode == Fast {
		s.options += " -c fsync=off -c full_page_writes=off"
	}
	if err := s.command("initdb", "-D", s.Data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"); err != nil {
		return nil, err
	}
	if clocked {
		if err := s.fakeClock(); err != nil {
			return nil, err
		}
	}
	if err := s.watch(); err != nil {
		return nil, err
	}
	if err := s.Run(); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// watch starts a process that ends the server and removes its files when this process has ended.
func (s *Server) watch() error {
	s.guard = exec.Command("sh", "-c", `cat >/dev/null; "$0" -D "$1/data" -m immediate stop >/dev/null 2>&1; rm -rf "$1"`, filepath.Join(s.bin, "pg_ctl"), s.dir)
	s.guard.Dir, s.guard.SysProcAttr = "/", &syscall.SysProcAttr{Setpgid: true} // a signal for the test is not one for it
	if s.as != nil {
		s.guard.SysProcAttr.Credential = s.as.Credential
	}
	var err error
	if s.alive, err = s.guard.StdinPipe(); err != nil {
		return err
	}
	return s.guard.Start()
}

// end ends the server and waits until its files are gone.
func (s *Server) end() {
	_ = s.alive.Close()
	_ = s.guard.Wait()
	_ = os.RemoveAll(s.dir)
}

// setUser selects another user than root, whom PostgreSQL refuses.
func (s *Server) setUser() error {
	if os.Geteuid() != 0 {
		return nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		if who, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.Atoi(who.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(who.Gid)
	if err != nil {
		return err
	}
	s.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return os.Chown(s.dir, uid, gid)
}

// programs returns the directory of the newest server's programs.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(real), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errMissing
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}
