//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// lockHead locks the head file and waits for other processes that write it.
func lockHead(f *os.File) (unlock func(), err error) {
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return func() { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }, err
		}
	}
}
