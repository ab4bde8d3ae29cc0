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

// Proves FM13: an answer is as old as the clock says in either direction. One that was
// given before the clock was put back is not for a call that comes now.
func TestFM13ClockPutBack(t *testing.T) {
	now := time.Now()
	desk := At(t.TempDir(), "rules")
	desk.now = func() time.Time { return now }
	call := Call{Principal: "local", Tool: "Bash", Host: "claude-code", Session: "s", ID: "1"}
	turn, _, err := desk.Enter(context.Background(), call)
	if err != nil || turn == nil {
		t.Fatal(turn, err)
	}
	if err := turn.Settle([]byte(`{"action":"allow"}`)); err != nil {
		t.Fatal(err)
	}
	call.Host = "cursor"
	now = now.Add(-time.Hour)
	turn, said, err := desk.Enter(context.Background(), call)
	if err != nil || turn == nil {
		t.Fatalf("an hour before it was given, the answer is taken: %s, %v", said, err)
	}
	turn.Leave()
}

// Proves S49, FM9: whoever did not wait hears of a decision without an answer, or with one,
// within the window alone; a host that is given an answer is given it no more than once.
func TestWindow(t *testing.T) {
	for _, settled := range []bool{true, false} {
		for _, age := range []time.Duration{Window - 1, Window} {
			// The file says milliseconds.
			now := time.UnixMilli(1_700_000_000_000)
			desk := At(t.TempDir(), "rules")
			desk.now = func() time.Time { return now }
			call := Call{Principal: "local", Tool: "Bash", Host: "claude-code", Session: "s", ID: "1"}
			turn, _, err := desk.Enter(context.Background(), call)
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
			turn, said, err := desk.Enter(context.Background(), call)
			young := age < Window
			if got := errors.Is(err, ErrUnanswered); got != (young && !settled) {
				t.Errorf("settled %v, %v later: %v", settled, age, err)
			}
			if got := string(said) == "{}"; got != (young && settled) || (turn != nil) == young {
				t.Errorf("settled %v, %v later: the turn %v, the answer %q", settled, age, turn != nil, said)
			}
			if turn != nil {
				turn.Leave()
			}
		}
	}
}

// Proves S49, C14: of what older versions made for each call, and of notes that an answer was
// given away, what nobody can be about any more is removed, and nothing else: no call that is
// being decided, no file of others, no link and no directory. Nobody but the user reads what is
// kept.
func TestSweep(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "state", "hooks")
	now := time.Now()
	desk := At(dir, "rules")
	desk.now = func() time.Time { return now }
	call := Call{Principal: "local", Tool: "Bash", Host: "claude-code", Session: "s", ID: "1"}
	held, _, err := desk.Enter(context.Background(), call)
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	defer held.Leave()
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Dir(dir): 0o700, held.table.file.Name(): 0o600, held.mine.Name(): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	ages := map[string]time.Duration{
		"young.call": 2*Window - time.Second, "old.call": 2 * Window, filepath.Base(held.table.file.Name()): time.Hour, filepath.Base(held.mine.Name()): time.Hour,
		"young.twin": twins - time.Second, "old.twin": twins, "old.txt": 2 * twins, "other": 2 * twins,
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
	now = now.Add(2 * twins)
	for name, age := range ages {
		path := filepath.Join(dir, name)
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	call.Tool = "Read"
	turn, _, err := desk.Enter(context.Background(), call)
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
	for _, f := range []*os.File{held.table.file, held.mine, turn.table.file, turn.mine} {
		want = append(want, filepath.Base(f.Name()))
	}
	slices.Sort(left)
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left are %q, not %q", left, want)
	}
}
