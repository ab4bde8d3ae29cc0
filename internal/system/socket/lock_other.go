//go:build !unix

package socket

import "os"

// Lock opens the file: the system refuses a second listener without a lock.
func Lock(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }
