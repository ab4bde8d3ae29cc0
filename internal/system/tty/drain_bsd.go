//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import (
	"os"

	"golang.org/x/sys/unix"
)

const device = "/dev/tty"

// read is FREAD of <sys/fcntl.h>: flush the input.
const read = 1

func drain(f *os.File) {
	// It fails only if f is not a terminal, and then there is no input.
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read)
}
