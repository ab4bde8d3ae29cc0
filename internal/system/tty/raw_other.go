//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package tty

import "errors"

// Raw is not supported: keys come in lines.
func (t *Terminal) Raw() (restore func() error, err error) {
	return nil, errors.ErrUnsupported
}

// Size returns zero: unknown on this system.
func (t *Terminal) Size() (columns, lines int) { return 0, 0 }

// Size returns zero: unknown on this system.
func Size(interface{ Fd() uintptr }) (columns, lines int) { return 0, 0 }

// Is reports whether a file is a terminal.
func Is(interface{ Fd() uintptr }) bool { return false }
