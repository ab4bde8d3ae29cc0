package tty

import (
	"os"

	"golang.org/x/sys/unix"
)

const device = "/dev/tty"

func drain(f *os.File) {
	// It fails only where f is no terminal, and then nothing was typed.
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
