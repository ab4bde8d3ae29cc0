//go:build !linux

package external

import (
	"net"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/system/owner"
)

// trusted reports an error if another user could replace the socket: its directory must belong to
// this user or to root, and others must not be able to write there.
func trusted(_ *net.UnixConn, path string) error { return owner.State(filepath.Dir(path)) }
