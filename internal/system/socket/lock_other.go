//go:build !unix

package socket

import "os"

// lock cannot tell other processes apart here; the system refuses a second listener.
func lock(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }
