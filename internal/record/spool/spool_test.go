package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func drain(t *testing.T, d *Dir) (lines string) {
	t.Helper()
	if err := d.Drain(func(all [][]byte) error {
		lines += string(bytes.Join(all, []byte(","))) + ";"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}

func add(t *testing.T, d *Dir, line string) {
	t.Helper()
	if err := d.Append([]byte(line + "\n")); err != nil {
		t.Fatal(err)
	}
}

// Lines are delivered once, in their order, and no file remains.
func TestDrain(t *testing.T) {
	d := At(filepath.Join(t.TempDir(), "s.db"))
	if d.Waiting() != 0 {
		t.Error("there is something")
	}
	add(t, d, "a")
	add(t, d, "b")
	if got := d.Waiting(); got != 1 {
		t.Errorf("%d files", got)
	}
	if got := drain(t, d); got != "a,b;" {
		t.Errorf("lines %s", got)
	}
	add(t, d, "c")
	if got := drain(t, d) + drain(t, d); got != "c;" || d.Waiting() != 0 {
		t.Errorf("lines %s, and %d files", got, d.Waiting())
	}
}

// The file of a running process is its own; any process drains the file of one that ended, except a
// line that a crash cut.
func TestFilesOfOtherProcesses(t *testing.T) {
	store := filepath.Join(t.TempDir(), "s.db")
	a, b := At(store), At(store)
	add(t, a, "of a")
	if got := drain(t, b); got != "" {
		t.Errorf("of a process that lives: %s", got)
	}
	if err := os.WriteFile(filepath.Join(store+"-spool", "ended.jsonl"), []byte("1\n2\ncu"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store+"-spool", "other.txt"), []byte("no line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := drain(t, b); got != "1,2;" {
		t.Errorf("of one that ended: %s", got)
	}
	if got := drain(t, a); got != "of a;" {
		t.Errorf("its own: %s", got)
	}
}

// A process spools a bounded number of bytes, also after failed drains; drained lines make space.
func TestSpoolIsBounded(t *testing.T) {
	d := At(filepath.Join(t.TempDir(), "s.db"))
	d.Limit(100)
	busy := errors.New("busy")
	kept := 0
	for i := range 50 {
		err := d.Append(fmt.Appendf(nil, "line %02d\n", i))
		if err == nil {
			kept++
		} else if !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
		if err := d.Drain(func([][]byte) error { return busy }); !errors.Is(err, busy) {
			t.Fatal(err)
		}
	}
	if kept != 100/len("line 00\n") {
		t.Errorf("%d lines of 8 bytes in 100", kept)
	}
	taken := 0
	if err := d.Drain(func(all [][]byte) error { taken += len(all); return nil }); err != nil || taken != kept {
		t.Errorf("%d of %d lines, %v", taken, kept, err)
	}
	add(t, d, "there is space again")
}

// Lines that cannot be stored are an error, and none of them is delivered later.
func TestUnwritableSpool(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "s.db")
	if err := os.WriteFile(store+"-spool", nil, 0o600); err != nil { // a file in place of the directory fails for root, too
		t.Fatal(err)
	}
	d := At(store)
	if err := d.Append([]byte("a\n")); err == nil {
		t.Error("kept")
	}
	if err := os.Remove(store + "-spool"); err != nil {
		t.Fatal(err)
	}
	add(t, d, "b")
	if got := drain(t, d); got != "b;" {
		t.Errorf("lines %s", got)
	}
}
