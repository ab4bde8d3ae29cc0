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

// head holds the lock of a file's writer queue, as another process would.
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

// take waits until the lock is free.
func (h *head) take() {
	h.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		err := syscall.Flock(int(h.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("the lock was not released: %v", err)
		}
	}
}

func (h *head) pass() {
	if err := syscall.Flock(int(h.file.Fd()), syscall.LOCK_UN); err != nil {
		h.t.Error(err)
	}
}

// Proves FM2: a waiting process writes when the lock is released, and releases it
// again.
func TestWritersQueue(t *testing.T) {
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
	h.take() // both have released it
	if got := count(t, first); got != 4 {
		t.Errorf("%d rows, want 4", got)
	}
}

// Proves FM2: a process that is stopped while it holds the lock does not block the others for
// good, and changes made meanwhile are written once.
func TestStoppedLockHolder(t *testing.T) {
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

// Proves FM2: a caller that gives up gets its error at its deadline, writes nothing later,
// and does not block the queue.
func TestQueuedCallerGivesUp(t *testing.T) {
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
	h.take() // the abandoned wait has released it
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

// Proves that writing works without a usable lock file, and that a symbolic link in its
// place is not followed.
func TestWithoutLockFile(t *testing.T) {
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
