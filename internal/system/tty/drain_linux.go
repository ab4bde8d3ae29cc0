package tty

import (
	"os"

	"golang.org/x/sys/unix"
)

const device = "/dev/tty"

func drain(f *os.File) {
	// It fails only if f is not a terminal, and then there is no input.
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
