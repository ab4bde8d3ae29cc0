//go:build !unix

package cpu

import (
	"testing"
	"time"
)

// Time is not known here.
func Time() time.Duration { return 0 }

// Report reports nothing.
func Report(*testing.B, time.Duration) {}
