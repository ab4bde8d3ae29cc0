//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// lockHead waits for the other processes that write the head file.
func lockHead(f *os.File) (unlock func(), err error) {
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return func() { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }, err
		}
	}
}
