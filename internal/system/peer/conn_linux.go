package peer

import (
	"io"
	"os"
	"syscall"
	"time"
)

// Checks reports whether this system can check peers.
const Checks = true

// Conn is a connection to a trusted process. Its methods may be called concurrently, as those of a
// connection of package net.
type Conn struct {
	// Waiting is left to the runtime's poller. A thread that waits in a system call keeps its
	// processor, which the runtime checks every few microseconds: while the peer answered, that
	// took as long as everything else.
	file *os.File
	raw  syscall.RawConn
	own  Self
	peer *process
}

// Dial connects to the process that listens at a path, if it is trusted. Reads and writes end at the
// deadline; the zero time is none. Nothing is sent. The error is ErrNone, ErrEnding, ErrUntrusted, or
// one of the system.
func Dial(path string, own Self, until time.Time) (*Conn, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	switch err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err {
	case nil:
	case syscall.ENOENT, syscall.ECONNREFUSED:
		syscall.Close(fd)
		return nil, ErrNone
	default:
		syscall.Close(fd)
		return nil, err
	}
	c := &Conn{file: os.NewFile(uintptr(fd), path), own: own, peer: processOf(fd)}
	switch {
	case c.peer != nil && c.peer.ending():
		c.Close()
		return nil, ErrEnding
	case c.peer == nil || !own.runs(c.peer) || !own.sees(c.peer):
		c.Close()
		return nil, ErrUntrusted
	}
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_PASSCRED, 1)
	if err == nil {
		c.raw, err = c.file.SyscallConn()
	}
	if err == nil {
		err = c.file.SetDeadline(until)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// PID returns the number of the process.
func (c *Conn) PID() int { return int(c.peer.pid) }

// Trusted reports whether the process is still alive and runs the same program file.
func (c *Conn) Trusted() bool { return c.own.runs(c.peer) }

// Ending reports whether the process is ending, or gone.
func (c *Conn) Ending() bool { return c.peer.ending() }

// Read reads the bytes that are available, once there are some. It fails with ErrWriter if the process
// that was checked did not write all of them, or no longer runs the same program file.
func (c *Conn) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	control := make([]byte, 64)
	var m int
	var failed error
	err = c.raw.Read(func(fd uintptr) bool {
		failed = syscall.EINTR
		for failed == syscall.EINTR {
			n, m, _, _, failed = syscall.Recvmsg(int(fd), p, control, syscall.MSG_CMSG_CLOEXEC)
		}
		return failed != syscall.EAGAIN
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, os.NewSyscallError("recvmsg", failed)
	case n == 0:
		return 0, io.EOF
	case !c.peer.wrote(control[:m]), !c.own.runs(c.peer):
		return 0, ErrWriter
	}
	return n, nil
}

// Write writes all bytes.
func (c *Conn) Write(p []byte) (n int, err error) {
	var failed error
	err = c.raw.Write(func(fd uintptr) bool {
		for failed == nil && n < len(p) {
			sent, err := syscall.SendmsgN(int(fd), p[n:], nil, nil, syscall.MSG_NOSIGNAL)
			switch err {
			case syscall.EAGAIN:
				return false
			case nil, syscall.EINTR:
				n += max(sent, 0)
			default:
				failed = err
			}
		}
		return true
	})
	if err == nil && failed != nil {
		err = os.NewSyscallError("sendmsg", failed)
	}
	return n, err
}

// Close closes the connection.
func (c *Conn) Close() error {
	if c.peer != nil {
		c.peer.close()
	}
	return c.file.Close()
}

// SetDeadline sets the deadline of reads and writes.
func (c *Conn) SetDeadline(t time.Time) error { return c.file.SetDeadline(t) }

// SetReadDeadline sets the deadline of reads.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.file.SetReadDeadline(t) }

// SetWriteDeadline sets the deadline of writes.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.file.SetWriteDeadline(t) }
