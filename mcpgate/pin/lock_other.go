//go:build !unix

package pin

import (
	"errors"
	"os"
)

// await refuses: without locks two processes would lose each other's pins.
func await(*os.File) error {
	return errors.New("pins need a system with file locks: Linux or macOS")
}
