//go:build !unix

package once

import (
	"errors"
	"os"
)

func lock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func unlock(*os.File) error { return errors.ErrUnsupported }
