package usage

// Error describes a mistake in a usage.
type Error struct {
	// Index is the position of the usage in its condition.
	Index int
	// Offset is the byte of the mistake, -1 for the complete usage.
	Offset int
	// Message is lower case and without a full stop.
	Message string
	// Hint is the remedy, "" if there is none. Text in back quotes can be pasted.
	Hint string
}

// Error returns the message.
func (e *Error) Error() string { return "usage: " + e.Message }
