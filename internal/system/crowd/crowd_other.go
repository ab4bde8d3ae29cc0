//go:build !linux

package crowd

import "runtime"

// runnable is not known.
func runnable() int { return 0 }

func processors() int { return runtime.NumCPU() }
