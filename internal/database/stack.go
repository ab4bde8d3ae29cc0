package database

// roomy gives its goroutine a stack of 64 KiB at once, which is what SQLite needs at its
// deepest. Growing it by doubling copies it five times, and each copy looks up all of
// its frames; a process that writes one row has nothing that makes up for that.
//
// The room is part of the frame, used or not; no page of it is touched.
//
//go:noinline
func roomy(use bool) int {
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
