//go:build unix

package socket

import (
	"errors"
	"os"
	"syscall"
)

// Lock locks a file for this process, or fails with ErrInUse. The lock ends when the file is closed, and
// when the process ends.
func Lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		f.Close()
		return nil, ErrInUse
	case err != nil:
		f.Close()
		return nil, err
	}
	return f, nil
}
