// Package socket listens on a Unix socket that belongs to one process of one user.
//
//	ln, err := socket.Listen(path)
//	if errors.Is(err, socket.ErrInUse) {
//		// another process serves there
//	}
//	defer ln.Close() // takes the socket away
//
// What it promises: nobody but this user can open the socket, at no moment, nor put another
// one in its place; a socket
// that a dead process left behind is replaced, one that is served is not; of several
// processes that begin at once one gets it.
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

// MaxPath is the longest path of a socket in bytes, the least of the systems that
// stopgate runs on.
const MaxPath = 103

// Why there is no socket.
var (
	ErrInUse   = errors.New("another process serves this socket")
	ErrTooLong = errors.New("the path is too long for a socket")
	ErrOther   = errors.New("there is a file that is no socket")
)

// Listener is a socket that is served. Close takes it away.
type Listener struct {
	*net.UnixListener
	path string
	lock *os.File
}

// Listen serves a path. It makes the directory, for this user alone, if there is
// none. Beside the socket stands a file with the ending .lock that the serving
// process holds locked.
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

// fresh is the ending of a directory for this user alone, in which the socket is made: with
// some umasks it is open to others until its mode is set. inFresh is its name there.
const (
	fresh   = ".new"
	inFresh = fresh + "/s"
)

func listen(path string) (l *Listener, err error) {
	if len(path)+len(inFresh) > MaxPath {
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
	if l.lock, err = lock(path + ".lock"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.lock.Close()
		}
	}()
	// Made elsewhere, narrowed, then moved: nobody can connect in between, and a stale
	// socket is replaced in one step.
	for _, left := range []string{path + inFresh, path + fresh} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return nil, err
		}
	}
	if err := os.Mkdir(path+fresh, 0o700); err != nil {
		return nil, err
	}
	defer os.Remove(path + fresh)
	l.UnixListener, err = net.ListenUnix("unix", &net.UnixAddr{Name: path + inFresh, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(path+inFresh, 0o600); err == nil {
		err = os.Rename(path+inFresh, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.UnixListener.Close(), os.Remove(path+inFresh))
	}
	return l, nil
}

// Path is the socket's absolute path.
func (l *Listener) Path() string { return l.path }

// Close stops serving and takes the socket away. The file with the lock stays: taking
// it away would let two processes lock two files.
func (l *Listener) Close() error {
	if err := l.UnixListener.Close(); err != nil {
		return err // closed before: the socket may be another process's by now
	}
	return errors.Join(os.Remove(l.path), l.lock.Close())
}
