//go:build !linux

package peer

import (
	"errors"
	"time"
)

// Checks reports whether this system can check peers.
const Checks = false

// Self is empty: peers cannot be checked on this system.
type Self struct{}

// Own returns the identity of this process.
func Own(...string) Self { return Self{} }

// Serves reports whether the process at the other end may ask this one: never on this system.
func (Self) Serves(uintptr) bool { return false }

// Conn is a connection to a trusted process; there is none on this system.
type Conn struct{}

// Dial fails: the listener cannot be checked on this system.
func Dial(string, Self, time.Time) (*Conn, error) {
	return nil, errors.ErrUnsupported
}

// PID returns 0.
func (*Conn) PID() int { return 0 }

// Read fails.
func (*Conn) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// Write fails.
func (*Conn) Write([]byte) (int, error) { return 0, errors.ErrUnsupported }

// Trusted reports that the process is not trusted.
func (*Conn) Trusted() bool { return false }

// Close has no effect.
func (*Conn) Close() error { return nil }

// SetDeadline fails.
func (*Conn) SetDeadline(time.Time) error { return errors.ErrUnsupported }

// SetReadDeadline fails.
func (*Conn) SetReadDeadline(time.Time) error { return errors.ErrUnsupported }

// SetWriteDeadline fails.
func (*Conn) SetWriteDeadline(time.Time) error { return errors.ErrUnsupported }

// Ending reports false.
func (*Conn) Ending() bool { return false }
