//go:build !unix

package plainfile

import "os"

// Open is [os.OpenFile].
func Open(path string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, mode)
}
