//go:build unix

// Package cpu measures processor time, which says what code costs on a machine that
// has other things to do.
package cpu

import (
	"syscall"
	"testing"
	"time"
)

// Time is what the process has used so far, all its threads together.
func Time() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Report adds the processor time per iteration since a start to a benchmark's
// result, garbage collection included.
func Report(b *testing.B, start time.Duration) {
	b.ReportMetric(float64(Time()-start)/float64(b.N), "cpu-ns/op")
}
