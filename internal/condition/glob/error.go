package glob

import "fmt"

// Error describes a mistake in a glob.
type Error struct {
	// Offset is the byte of the mistake in the glob.
	Offset int
	// Message is lower case and without a full stop.
	Message string
	// Hint is the remedy, "" if there is none. Text in back quotes can be pasted.
	Hint string
}

// Error returns the message with its position.
func (e *Error) Error() string { return fmt.Sprintf("glob: %s (at byte %d)", e.Message, e.Offset) }
