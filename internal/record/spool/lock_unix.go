//go:build unix

package spool

import (
	"errors"
	"os"
	"syscall"
)

// noFollow refuses symbolic links.
const noFollow = syscall.O_NOFOLLOW

// lock takes the lock of a file unless another open file has it. The kernel releases it when the
// process ends.
func lock(f *os.File) (free bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
