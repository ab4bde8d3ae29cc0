//go:build unix

package database

import (
	"errors"
	"syscall"
)

// openLock opens the lock file of the queue.
func openLock(path string) (int, error) {
	return syscall.Open(path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
}

// tryLock takes the lock unless another process holds it. The kernel releases it when the process
// ends.
func tryLock(file int) (free bool, err error) {
	err = flock(file, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// waitLock waits for the lock; the kernel grants it in the order of arrival.
func waitLock(file int) error { return flock(file, syscall.LOCK_EX) }

func flock(file, how int) error {
	for {
		if err := syscall.Flock(file, how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func unlock(file int) { _ = syscall.Flock(file, syscall.LOCK_UN) }

func closeLock(file int) { _ = syscall.Close(file) }

// touchLock updates the modification time of the file.
func touchLock(file int) { _, _ = syscall.Pwrite(file, []byte{'.'}, 0) }
