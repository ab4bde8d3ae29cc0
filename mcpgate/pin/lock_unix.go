//go:build unix

package pin

import (
	"os"
	"syscall"
)

// await waits until no other process changes the file. Its lock ends with the process.
func await(lock *os.File) error { return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) }
