//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package tty

import "errors"

// Raw is not possible here: keys come a line at a time.
func (t *Terminal) Raw() (restore func() error, err error) {
	return nil, errors.ErrUnsupported
}

// Size is not known here.
func (t *Terminal) Size() (columns, lines int) { return 0, 0 }

// Size is not known here.
func Size(interface{ Fd() uintptr }) (columns, lines int) { return 0, 0 }

// Is reports whether a file is a terminal.
func Is(interface{ Fd() uintptr }) bool { return false }
