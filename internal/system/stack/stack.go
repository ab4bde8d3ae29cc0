// Package stack grows the stacks of goroutines with deep calls in advance.
//
//	go func() {
//		stack.Grow()
//		decide()
//	}()
package stack

// Grow grows the stack of its goroutine to 64 KiB at once, which suffices for policies and SQLite.
// Growing it by doubling would copy it five times, and each copy visits all frames; a process that
// decides one call cannot amortise that.
func Grow() { reserve(false) }

// reserve has a large frame, whether used or not; it touches no page of it.
//
//go:noinline
func reserve(use bool) int {
	if !use {
		return 0
	}
	var frame [40 << 10]byte
	return touch(&frame)
}

//go:noinline
func touch(frame *[40 << 10]byte) int {
	frame[0] = 1
	return len(frame)
}
