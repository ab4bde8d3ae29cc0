//go:build unix

package plainfile

import (
	"errors"
	"os"
	"syscall"
)

// Open is [os.OpenFile] for regular files. It also opens sockets, pipes and terminals, whose reads
// then block a thread.
func Open(path string, flag int, mode os.FileMode) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, flag|syscall.O_CLOEXEC, uint32(mode.Perm()))
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case !errors.Is(err, syscall.EINTR):
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
