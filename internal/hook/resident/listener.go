package resident

import (
	"net"
	"os"
	"sync"

	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/system/peer"
	"github.com/stopgate/stopgate/internal/system/socket"
)

// maxConnections is the maximum number of open connections, of which most can wait for approvals. A
// client above it decides itself.
const maxConnections = 320

// listener accepts connections of this user's processes that see the same files.
type listener struct {
	*socket.Listener
	self     peer.Self
	path     string      // of the program
	program  os.FileInfo // the program when it started
	replaced func()      // is called when the path leads to another program
	slots    chan struct{}
}

func newListener(at *socket.Listener, replaced func()) (*listener, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program, err := os.Stat(path)
	return &listener{at, ask.Own(), path, program, replaced, make(chan struct{}, maxConnections)}, err
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		// The first client of a new program finds that this process is outdated.
		if now, err := os.Stat(l.path); err == nil && !os.SameFile(now, l.program) {
			l.replaced()
		}
		if l.trusts(c) {
			select {
			case l.slots <- struct{}{}:
				return &connection{UnixConn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
			default:
			}
		}
		c.Close()
	}
}

func (l *listener) trusts(c *net.UnixConn) (yes bool) {
	raw, err := c.SyscallConn()
	return err == nil && raw.Control(func(fd uintptr) { yes = l.self.Serves(fd) }) == nil && yes
}

// connection has one of the slots until it is closed.
type connection struct {
	*net.UnixConn
	free func()
}

// Close implements [net.Conn].
func (c *connection) Close() error {
	defer c.free()
	return c.UnixConn.Close()
}
