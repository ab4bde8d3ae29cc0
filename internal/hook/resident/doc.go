// Package resident answers hooks for the processes that coding agents start, in one
// process that keeps what each of them would have to make anew: the compiled policy and the
// open store.
//
//	err := resident.Serve(ctx, resident.Options{Idle: 30 * time.Minute, Log: os.Stderr})
//
// It decides with the code that a process of its own decides with (package internal/hook/process),
// on what the asker says of itself: its command line, its working directory and a few
// variables of its environment. The policy files are read anew for each event. What takes
// the full program, what has no store, and what is said relative to a working directory is
// left to the asker.
//
// What it promises: it answers nobody but processes of the same user that run the same file
// and see the same files (package internal/hook/ask); an asker gets the answer to its own event or
// none; a question that is too long, too slow, or no question gets none; and a panic is no
// answer. One process serves a user; a second one does not start.
package resident
