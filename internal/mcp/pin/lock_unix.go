//go:build unix

package pin

import (
	"os"
	"syscall"
)

// lockFile locks the file exclusively and blocks until it can. The lock ends with the
// process at the latest.
func lockFile(lock *os.File) error { return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) }
