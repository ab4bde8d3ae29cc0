package external

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// trusted reports an error unless the process that listens on a socket belongs to this user or to
// root: another user could answer in the place of the policy.
func trusted(c *net.UnixConn, _ string) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cred *syscall.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		cred, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if int(cred.Uid) != os.Geteuid() && cred.Uid != 0 {
		return fmt.Errorf("the socket is served by user %d: want this user or root", cred.Uid)
	}
	return nil
}
