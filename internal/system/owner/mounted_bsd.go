//go:build darwin || freebsd

package owner

import "golang.org/x/sys/unix"

const readOnlyFlag = unix.MNT_RDONLY
