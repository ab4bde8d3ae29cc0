//go:build unix

package database

import (
	"errors"
	"syscall"
)

// openTurn opens the file whose lock is the head of the line.
func openTurn(path string) (int, error) {
	return syscall.Open(path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
}

// tryTurn takes the lock unless another process has it. It ends with the process.
func tryTurn(file int) (free bool, err error) {
	err = lockTurn(file, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// awaitTurn waits for the lock; the kernel wakes who waits in the order in which they
// came.
func awaitTurn(file int) error { return lockTurn(file, syscall.LOCK_EX) }

func lockTurn(file, how int) error {
	for {
		if err := syscall.Flock(file, how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func passTurn(file int) { _ = syscall.Flock(file, syscall.LOCK_UN) }

func closeTurn(file int) { _ = syscall.Close(file) }

// markTurn changes the time of the file.
func markTurn(file int) { _, _ = syscall.Pwrite(file, []byte{'.'}, 0) }
