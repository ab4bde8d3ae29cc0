//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// errNoClock is the error of a machine without libfaketime.
var errNoClock = errors.New("libfaketime is not installed, and the tests of clocks need it: apt-get install -y libfaketime")

// StartClocked starts a server for one test, whose clock [Server.SetClock] sets.
func StartClocked(t testing.TB, mode Mode) *Server {
	t.Helper()
	s, err := start(mode, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	return s
}

// fakeClock lets the processes of the server read their clock from a file.
func (s *Server) fakeClock() error {
	found, err := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if err != nil || len(found) == 0 {
		return errors.Join(errNoClock, err)
	}
	s.env = []string{"LD_PRELOAD=" + found[0], "FAKETIME_TIMESTAMP_FILE=" + s.clockFile(), "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"}
	return s.SetClock(0)
}

func (s *Server) clockFile() string { return filepath.Join(s.dir, "clock") }

// SetClock sets the clock of a server of [StartClocked]: the machine's clock and an offset.
func (s *Server) SetClock(offset time.Duration) error {
	next := s.clockFile() + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+.3f\n", offset.Seconds()), 0o644); err != nil {
		return err
	}
	return os.Rename(next, s.clockFile())
}
