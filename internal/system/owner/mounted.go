//go:build linux || darwin || freebsd

package owner

import "golang.org/x/sys/unix"

// readOnly reports whether a file is on a file system that is mounted read-only.
func readOnly(path string) bool {
	var at unix.Statfs_t
	return unix.Statfs(path, &at) == nil && int64(at.Flags)&readOnlyFlag != 0
}
