//go:build unix

package once

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// Proves FM13: the age of an answer is the difference of the clock in either direction. An answer
// from before the clock was set back is not for a new call.
func TestFM13ClockPutBack(t *testing.T) {
	now := time.Now()
	registry := At(t.TempDir(), "rules")
	registry.now = func() time.Time { return now }
	call := Call{Principal: "local", Tool: "Bash", Host: "claude-code", Session: "s", ID: "1"}
	turn, _, err := registry.Enter(context.Background(), call)
	if err != nil || turn == nil {
		t.Fatal(turn, err)
	}
	if err := turn.Settle([]byte(`{"action":"allow"}`)); err != nil {
		t.Fatal(err)
	}
	call.Host = "cursor"
	now = now.Add(-time.Hour)
	turn, answer, err := registry.Enter(context.Background(), call)
	if err != nil || turn == nil {
		t.Fatalf("an hour before it was given, the answer is taken: %s, %v", answer, err)
	}
	turn.Leave()
}

// Proves S49, FM9: a process that did not wait gets a decision, with or without an answer, only
// within the window; a host that received an answer does not get it again.
func TestWindow(t *testing.T) {
	for _, settled := range []bool{true, false} {
		for _, age := range []time.Duration{Window - 1, Window} {
			// The file has milliseconds.
			now := time.UnixMilli(1_700_000_000_000)
			registry := At(t.TempDir(), "rules")
			registry.now = func() time.Time { return now }
			call := Call{Principal: "local", Tool: "Bash", Host: "claude-code", Session: "s", ID: "1"}
			turn, _, err := registry.Enter(context.Background(), call)
			if err != nil || turn == nil {
				t.Fatal(turn, err)
			}
			if settled {
				err = turn.Settle([]byte(`{}`))
			} else {
				err = turn.Leave()
			}
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(age)
			call.Host = "cursor"
			turn, answer, err := registry.Enter(context.Background(), call)
			young := age < Window
			if got := errors.Is(err, ErrUnanswered); got != (young && !settled) {
				t.Errorf("settled %v, %v later: %v", settled, age, err)
			}
			if got := string(answer) == "{}"; got != (young && settled) || (turn != nil) == young {
				t.Errorf("settled %v, %v later: the turn %v, the answer %q", settled, age, turn != nil, answer)
			}
			if turn != nil {
				turn.Leave()
			}
		}
	}
}

// Proves S49, C14: of the files of older versions, and of markers of delivered answers, those that
// no call can be about any more are removed, and nothing else: no call that is being decided, no
// file of others, no link and no directory. Only the user can read the files.
func TestSweep(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "state", "hooks")
	now := time.Now()
	registry := At(dir, "rules")
	registry.now = func() time.Time { return now }
	call := Call{Principal: "local", Tool: "Bash", Host: "claude-code", Session: "s", ID: "1"}
	held, _, err := registry.Enter(context.Background(), call)
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	defer held.Leave()
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Dir(dir): 0o700, held.table.file.Name(): 0o600, held.slot.Name(): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	ages := map[string]time.Duration{
		"young.call": 2*Window - time.Second, "old.call": 2 * Window, filepath.Base(held.table.file.Name()): time.Hour, filepath.Base(held.slot.Name()): time.Hour,
		"young.twin": markerLifetime - time.Second, "old.twin": markerLifetime, "old.txt": 2 * markerLifetime, "other": 2 * markerLifetime,
	}
	for name := range ages {
		path := filepath.Join(dir, name)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if err := os.Mkdir(filepath.Join(dir, "directory.call"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", filepath.Join(dir, "link.twin")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * markerLifetime)
	for name, age := range ages {
		path := filepath.Join(dir, name)
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	call.Tool = "Read"
	turn, _, err := registry.Enter(context.Background(), call)
	if err != nil || turn == nil {
		t.Fatal(turn, err)
	}
	defer turn.Leave()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{"young.call", "young.twin", "old.txt", "other", "directory.call", "link.twin"}
	for _, f := range []*os.File{held.table.file, held.slot, turn.table.file, turn.slot} {
		want = append(want, filepath.Base(f.Name()))
	}
	slices.Sort(left)
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left are %q, not %q", left, want)
	}
}
