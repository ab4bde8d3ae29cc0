package jsonstream

import (
	"fmt"

	"github.com/stopgate/stopgate"
)

// Error says why a text was refused. It depends on the text and the [Options]
// only, never on the chunks the text came in.
type Error struct {
	// Code is one of malformed_arguments, duplicate_key, trailing_data,
	// truncated_arguments, limit_exceeded and non_object_root (THREATS 7.1).
	Code stopgate.Code
	// Offset is the number of bytes up to and including the first byte that
	// shows the error; the length of the text if it is its end that shows it.
	Offset int64
	// Pointer is the RFC 6901 pointer of the innermost value that was being read
	// or awaited, of the container between two members, and of the member itself
	// for a repeated key. It is argument text: keys of the call stand in it.
	Pointer string
	// Detail says what is wrong, without argument text.
	Detail string
	// Empty is set if there was no text at all but white space (THREATS A14).
	Empty bool
}

// Error gives detail, offset and pointer in one line.
func (e *Error) Error() string {
	at := "the root"
	if e.Pointer != "" {
		at = fmt.Sprintf("%q", e.Pointer)
	}
	return fmt.Sprintf("json: %s at byte %d, in %s (%s)", e.Detail, e.Offset, at, e.Code)
}
