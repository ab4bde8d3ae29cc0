// Package socket listens on a Unix socket that belongs to one process of one user.
//
//	ln, err := socket.Listen(path)
//	if errors.Is(err, socket.ErrInUse) {
//		// another process serves there
//	}
//	defer ln.Close() // removes the socket
//
// Guarantees: at no moment can another user connect to the socket or replace it; a socket of a dead
// process is replaced, one that is served is not; if several processes start at once, one of them
// gets it.
package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/stopgate/stopgate/internal/system/owner"
)

// MaxPath is the maximum length of a socket path in bytes: the smallest limit of the supported
// systems.
const MaxPath = 103

// Errors of Listen.
var (
	ErrInUse   = errors.New("another process serves this socket")
	ErrTooLong = errors.New("the path is too long for a socket")
	ErrOther   = errors.New("there is a file that is no socket")
)

// Listener is a listening socket. Close removes it.
type Listener struct {
	*net.UnixListener
	path string
	lock *os.File
}

// Listen listens on a path. It creates a missing directory with access only for this user. The
// serving process holds a lock on the file next to the socket whose name ends in .lock.
func Listen(path string) (*Listener, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	l, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	return l, nil
}

// newDir is the suffix of a directory with access only for this user, in which the socket is
// created, because some umasks open it to others until its mode is set. inNewDir is its name there.
const (
	newDir   = ".new"
	inNewDir = newDir + "/s"
)

func listen(path string) (l *Listener, err error) {
	if len(path)+len(inNewDir) > MaxPath {
		return nil, ErrTooLong
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := owner.State(filepath.Dir(path)); err != nil {
		return nil, err
	}
	switch at, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case at.Mode().Type() != fs.ModeSocket:
		return nil, ErrOther
	}
	l = &Listener{path: path}
	if l.lock, err = Lock(path + ".lock"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.lock.Close()
		}
	}()
	// The socket is created elsewhere, gets its mode and is then renamed: no other user can connect
	// in between, and a stale socket is replaced atomically.
	for _, left := range []string{path + inNewDir, path + newDir} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return nil, err
		}
	}
	if err := os.Mkdir(path+newDir, 0o700); err != nil {
		return nil, err
	}
	defer os.Remove(path + newDir)
	l.UnixListener, err = net.ListenUnix("unix", &net.UnixAddr{Name: path + inNewDir, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(path+inNewDir, 0o600); err == nil {
		err = os.Rename(path+inNewDir, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.UnixListener.Close(), os.Remove(path+inNewDir))
	}
	return l, nil
}

// Path returns the absolute path of the socket.
func (l *Listener) Path() string { return l.path }

// Close stops listening and removes the socket. The lock file remains: if it were removed, two
// processes could lock two files.
func (l *Listener) Close() error {
	if err := l.UnixListener.Close(); err != nil {
		return err // already closed: another process may own the socket now
	}
	return errors.Join(os.Remove(l.path), l.lock.Close())
}
