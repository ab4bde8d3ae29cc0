//go:build unix

package jsonl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/stopgate/stopgate/internal/system/atomicfile"
)

type osFS struct{}

type osFile struct{ *os.File }

func (osFS) Open(path string) (File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, err
		}
		current, err := claim(f, path)
		if err != nil {
			f.Close()
			return nil, err
		}
		if current {
			return osFile{f}, nil
		}
		f.Close() // renamed by the previous writer: the path names another file now
	}
}

// claim locks an open file and reports whether the path still names it.
func claim(f *os.File, path string) (current bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is not a regular file: an audit log has to be synced and read again", path)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, ErrInUse
		}
		return false, fmt.Errorf("lock: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			return false, err
		}
	}
	named, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(info, named), err
}

func (osFS) SyncDir(path string) error { return atomicfile.SyncDir(filepath.Dir(path)) }

func (osFS) Rename(from, to string) error { return os.Rename(from, to) }

func (osFS) Link(from, to string) error { return os.Link(from, to) }

func (osFS) Remove(path string) error { return os.Remove(path) }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
