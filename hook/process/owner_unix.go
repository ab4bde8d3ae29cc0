//go:build unix

package process

import (
	"io/fs"
	"os"
	"syscall"
)

// Ours reports whether the user owns a file.
func Ours(info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(at.Uid) == os.Geteuid()
}
