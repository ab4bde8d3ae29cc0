package glob

import "fmt"

// Error says what is wrong with a glob.
type Error struct {
	// Offset is the byte in the glob where it goes wrong.
	Offset int
	// Message is lower case and without a full stop.
	Message string
	// Hint is what to write instead, "" if there is nothing better to say. Text in
	// back quotes can be pasted.
	Hint string
}

// Error returns the message with its place.
func (e *Error) Error() string { return fmt.Sprintf("glob: %s (at byte %d)", e.Message, e.Offset) }
