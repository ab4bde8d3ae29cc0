//go:build !linux

package crowd

import "runtime"

// runnable returns 0: the number is unknown.
func runnable() int { return 0 }

func processors() int { return runtime.NumCPU() }
