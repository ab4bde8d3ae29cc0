//go:build !unix

package pin

import (
	"errors"
	"os"
)

// lockFile returns an error: without file locks two processes would overwrite each other's
// pins.
func lockFile(*os.File) error {
	return errors.New("file locks are not supported on this system: use Linux or macOS")
}
