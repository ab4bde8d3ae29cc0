//go:build unix

package owner

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// OwnedByUser reports whether this user owns a file.
func OwnedByUser(info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(at.Uid) == os.Geteuid()
}

// ownedByOther reports whether neither this user nor root owns a file.
func ownedByOther(info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	return !ok || at.Uid != 0 && int(at.Uid) != os.Geteuid()
}

// writableByAll reports whether every user may write a file.
func writableByAll(info fs.FileInfo) bool { return info.Mode().Perm()&0o002 != 0 }

// writableByOthers reports whether users may write a file that do not own it.
func writableByOthers(info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	group := info.Mode().Perm()&0o020 != 0
	return !ok || writableByAll(info) || group && at.Gid != 0 && at.Gid != at.Uid && int(at.Gid) != os.Geteuid()
}

func describe(info fs.FileInfo) string {
	at, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("uid %d, this process has %d", at.Uid, os.Geteuid())
}

func root() bool { return os.Geteuid() == 0 }
