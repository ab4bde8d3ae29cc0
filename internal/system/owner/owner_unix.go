//go:build unix

package owner

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Mine reports whether this user owns a file.
func Mine(info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(at.Uid) == os.Geteuid()
}

// foreign reports whether neither this user nor root owns a file.
func foreign(info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	return !ok || at.Uid != 0 && int(at.Uid) != os.Geteuid()
}

// everybody reports whether every user may write a file.
func everybody(info fs.FileInfo) bool { return info.Mode().Perm()&0o002 != 0 }

// others reports whether users may write a file that do not own it.
func others(info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	group := info.Mode().Perm()&0o020 != 0
	return !ok || everybody(info) || group && at.Gid != 0 && at.Gid != at.Uid && int(at.Gid) != os.Geteuid()
}

func whose(info fs.FileInfo) string {
	at, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("uid %d, this process has %d", at.Uid, os.Geteuid())
}

func root() bool { return os.Geteuid() == 0 }
