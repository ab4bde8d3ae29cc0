//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Raw switches to single keys without echo and signals until restore is called, which may be
// repeated.
func (t *Terminal) Raw() (restore func() error, err error) {
	fd := int(t.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, fmt.Errorf("read the terminal's settings: %w", err)
	}
	raw := *before
	raw.Iflag &^= unix.BRKINT | unix.ICRNL | unix.INLCR | unix.IGNCR | unix.INPCK | unix.ISTRIP | unix.IXON
	raw.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	raw.Cflag |= unix.CS8
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setTermios, &raw); err != nil {
		return nil, fmt.Errorf("change the terminal's settings: %w", err)
	}
	return func() error { return unix.IoctlSetTermios(fd, setTermios, before) }, nil
}

// Size returns the columns and lines of the terminal, or zero.
func (t *Terminal) Size() (columns, lines int) { return Size(t) }

// Size returns the columns and lines of a terminal, or zero.
func Size(f interface{ Fd() uintptr }) (columns, lines int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}

// Is reports whether a file is a terminal.
func Is(f interface{ Fd() uintptr }) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	return err == nil
}
