package jsonstream

import (
	"fmt"

	"github.com/stopgate/stopgate"
)

// Error is the reason why a text was refused. It depends only on the text and the
// [Options], never on the chunks in which the text arrived.
type Error struct {
	// Code is one of malformed_arguments, duplicate_key, trailing_data,
	// truncated_arguments, limit_exceeded and non_object_root.
	Code stopgate.Code
	// Offset is the number of bytes up to and including the first byte that shows the
	// error, or the length of the text if its end shows the error.
	Offset int64
	// Pointer is the RFC 6901 pointer of the innermost value that was being read or
	// expected, of the container between two members, and of the member itself for a
	// repeated key. It contains argument text: keys of the call.
	Pointer string
	// Detail describes the error without argument text.
	Detail string
	// Empty is set if the text was empty or only white space (A14).
	Empty bool
}

// Error returns detail, offset and pointer in one line.
func (e *Error) Error() string {
	at := "the root"
	if e.Pointer != "" {
		at = fmt.Sprintf("%q", e.Pointer)
	}
	return fmt.Sprintf("json: %s at byte %d, in %s (%s)", e.Detail, e.Offset, at, e.Code)
}
