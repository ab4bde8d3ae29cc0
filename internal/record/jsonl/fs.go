package jsonl

import "io"

// FS is the part of a file system that the recorder uses. Tests replace it to simulate power cuts.
type FS interface {
	// Open opens a file for reading and appending, creates it with mode 0600 if it is missing, and
	// locks it against other writers until it is closed.
	Open(path string) (File, error)
	// SyncDir makes the creation, renaming and removal of the file durable.
	SyncDir(path string) error
	// Rename renames a file and replaces an existing one.
	Rename(from, to string) error
	// Link gives a file a second name; Remove removes a name.
	Link(from, to string) error
	Remove(path string) error
}

// File is an open log.
type File interface {
	io.ReaderAt
	io.Writer // appends
	io.Closer // also releases the lock
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
}
