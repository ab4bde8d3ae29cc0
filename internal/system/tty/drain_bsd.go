//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import (
	"os"

	"golang.org/x/sys/unix"
)

const device = "/dev/tty"

// read is FREAD of <sys/fcntl.h>: flush what is to be read.
const read = 1

func drain(f *os.File) {
	// It fails only where f is no terminal, and then nothing was typed.
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read)
}
