// Package stack makes room for goroutines that are known to go deep.
//
//	go func() {
//		stack.Grow()
//		decide()
//	}()
package stack

// Grow gives its goroutine a stack of 64 KiB at once, which is what a policy and SQLite
// need at their deepest. Growing it by doubling copies it five times, and each copy looks
// up all of its frames; a process that decides one call has nothing that makes up for that.
func Grow() { room(false) }

// room has the room in its frame, used or not; no page of it is touched.
//
//go:noinline
func room(use bool) int {
	if !use {
		return 0
	}
	var room [40 << 10]byte
	return touch(&room)
}

//go:noinline
func touch(room *[40 << 10]byte) int {
	room[0] = 1
	return len(room)
}
