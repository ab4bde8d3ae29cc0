package database

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Errors of Open and Change.
var (
	ErrClosed  = errors.New("the database is closed")
	ErrForeign = errors.New("the file is not a database of stopgate")
	ErrBusy    = errors.New("another process holds the database")
)

// NewerError reports that a newer version of the program wrote the file.
type NewerError struct {
	Component    string
	Have, Latest int // the version of the file, and the last one that this program knows
}

// Error returns the text of the error, with the remedy.
func (e *NewerError) Error() string {
	return fmt.Sprintf("its %s tables have version %d, and this stopgate knows versions up to %d: use the newer stopgate", e.Component, e.Have, e.Latest)
}

// UntrustedError reports that the file is no longer used because its content is unknown (FM4).
type UntrustedError struct {
	Path string
	Err  error
}

// Error returns the text of the error, with the remedy.
func (e *UntrustedError) Error() string {
	var newer *NewerError
	if errors.As(e.Err, &newer) {
		return fmt.Sprintf("database %s was changed while this process ran: %v, and start this again", e.Path, e.Err)
	}
	return fmt.Sprintf("database %s is not trusted any more: %v; check the disk and start again", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *UntrustedError) Unwrap() error { return e.Err }

// DamagedError reports that a file was damaged, or changed by another program.
type DamagedError struct {
	Path string
	Err  error
}

// Error returns the text of the error, with the remedy.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("database %s is damaged: %v; keep it for inspection and put a backup in its place, then run 'stopgate log restored --by NAME'; or move it and %s away to begin anew", e.Path, e.Err, HeadPath(e.Path))
}

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// code returns SQLite's extended result code of an error, or 0 if it has none.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// busy reports whether another connection holds a lock, so that a retry may succeed.
func busy(err error) bool {
	primary := code(err) & 0xff
	return primary == lib.SQLITE_BUSY || primary == lib.SQLITE_LOCKED
}

// distrusted reports whether the content of the disk is unknown after an error.
func distrusted(err error) bool {
	switch c := code(err); c & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return true
	default:
		return c == lib.SQLITE_IOERR_FSYNC || c == lib.SQLITE_IOERR_DIR_FSYNC
	}
}
