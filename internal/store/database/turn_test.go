//go:build unix

package database_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/store/database"
)

// head holds the head of a file's line of writers, as another process would.
type head struct {
	t    *testing.T
	file *os.File
}

func headOf(t *testing.T, path string) *head {
	t.Helper()
	f, err := os.OpenFile(path+"-turn", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &head{t, f}
}

// take waits until the lock is free: whoever has it gives it back.
func (h *head) take() {
	h.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		err := syscall.Flock(int(h.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("somebody keeps the head of the line: %v", err)
		}
	}
}

func (h *head) pass() {
	if err := syscall.Flock(int(h.file.Fd()), syscall.LOCK_UN); err != nil {
		h.t.Error(err)
	}
}

// Proves FM2: who waits in line writes when the one before passes it on, and passes it
// on in turn.
func TestWritersStandInLine(t *testing.T) {
	path := file(t)
	first, second := open(t, path), open(t, path)
	h := headOf(t, path)
	h.take()
	var callers sync.WaitGroup
	for i, db := range []*database.DB{first, second, first, second} {
		callers.Go(func() {
			if err := db.Change(ctx, insert(i)); err != nil {
				t.Error(err)
			}
		})
	}
	h.pass()
	callers.Wait()
	h.take() // nobody keeps it
	if got := count(t, first); got != 4 {
		t.Errorf("%d rows, want 4", got)
	}
}

// Proves FM2: a process that is stopped at the head of the line holds nobody up for good,
// and what was asked for while it stood there is done once.
func TestALineThatDoesNotMove(t *testing.T) {
	path := file(t)
	db := open(t, path)
	h := headOf(t, path)
	h.take()
	for i := range 2 {
		if err := db.Change(ctx, insert(i)); err != nil {
			t.Error(err)
		}
	}
	if got := count(t, db); got != 2 {
		t.Errorf("%d rows, want 2", got)
	}
	h.pass()
	h.take()
}

// Proves FM2: who gives up in line gets its error at its deadline, writes nothing later,
// and does not keep the line from moving.
func TestGivingUpInLine(t *testing.T) {
	path := file(t)
	db := open(t, path)
	h := headOf(t, path)
	h.take()
	short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	if err := db.Change(short, insert(1)); !errors.Is(err, database.ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	h.pass()
	h.take() // the one who gave up has let us pass
	h.pass()
	if err := db.Change(ctx, insert(2)); err != nil {
		t.Error(err)
	}
	var n int
	err := db.Snapshot(ctx, func(tx *database.Tx) error {
		_, err := tx.Get([]any{&n}, "SELECT max(n) FROM numbers WHERE (SELECT count(*) FROM numbers) = 1")
		return err
	})
	if err != nil || n != 2 {
		t.Errorf("row %d, want 2 alone (%v)", n, err)
	}
}

// Proves that files which cannot be waited at are in nobody's way, and that a link in the
// place of one is not followed.
func TestNoLine(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":      func(path string) error { return os.Symlink(path+".elsewhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			if err := spoil(path + "-turn"); err != nil {
				t.Fatal(err)
			}
			db := open(t, path)
			if err := db.Change(ctx, insert(1)); err != nil {
				t.Error(err)
			}
			if got := count(t, db); got != 1 {
				t.Errorf("%d rows, want 1", got)
			}
			if _, err := os.Lstat(path + "-turn.elsewhere"); err == nil {
				t.Error("the link was followed")
			}
		})
	}
	path := file(t)
	db := open(t, path)
	for i := range 2 { // the file goes away in between
		if err := db.Change(ctx, insert(i)); err != nil {
			t.Error(err)
		}
		if err := os.Remove(path + "-turn"); err != nil && i == 0 {
			t.Error(err)
		}
	}
}
