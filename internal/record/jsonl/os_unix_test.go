//go:build unix

package jsonl

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Proves FM4: also on the real file system a renamed file makes room for a new log while the old
// one is still open and locked.
func TestSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	rec, err := Open(path, Options{FS: osFS{}})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	var untrusted *UntrustedError
	if err := rec.distrust(errors.New("input/output error")); !errors.As(err, &untrusted) {
		t.Fatal(err)
	}
	if _, err := os.Stat(untrusted.Aside); err != nil {
		t.Error(err)
	}
	next, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	next.Close()
}

// Errors of the operating system are returned.
func TestErrorsOfTheSystem(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := claim(f, f.Name()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("claim: %v", err)
	}
	if _, err := (osFile{f}).Size(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("size: %v", err)
	}
	if err := (osFS{}).SyncDir(filepath.Join(f.Name(), "absent", "f")); err == nil {
		t.Error("a folder that does not exist was synced")
	}
}

// A file that was renamed between opening and locking is not the log.
func TestARenamedFileIsNotCurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	os.Rename(path, path+".aside")
	if current, err := claim(f, path); current || err != nil {
		t.Errorf("renamed away: %v, %v", current, err)
	}
	other, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if current, err := claim(f, path); current || err != nil {
		t.Errorf("another file has the name: %v, %v", current, err)
	}
}
