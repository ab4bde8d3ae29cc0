//go:build !unix

package spool

import "os"

const noFollow = 0

// lock always succeeds: the system has no locks that end with their process. The file of a running
// process may thus be drained, and the receiver of the lines drops duplicates.
func lock(*os.File) (free bool, err error) { return true, nil }
