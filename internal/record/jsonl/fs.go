package jsonl

import "io"

// FS is what the recorder needs of a file system. Tests replace it to cut the
// power; everybody else leaves it to the operating system.
type FS interface {
	// Open opens a file for reading and appending, creating it with mode 0600, and
	// locks it against every other writer until it is closed.
	Open(path string) (File, error)
	// SyncDir makes the creation, renaming and removal of the file's name durable.
	SyncDir(path string) error
	// Rename gives a file another name. An existing file of that name is lost.
	Rename(from, to string) error
	// Link gives a file a second name, Remove takes one away.
	Link(from, to string) error
	Remove(path string) error
}

// File is an open log.
type File interface {
	io.ReaderAt
	io.Writer // appends
	io.Closer // gives the lock back
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
}
