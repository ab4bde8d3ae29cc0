package usage

// Error says what is wrong with a usage.
type Error struct {
	// Index is the usage among those of a condition.
	Index int
	// Offset is the byte where it goes wrong, -1 if the whole usage is meant.
	Offset int
	// Message is lower case and without a full stop.
	Message string
	// Hint is what to write instead, "" if there is nothing better to say. Text in
	// back quotes can be pasted.
	Hint string
}

// Error returns the message.
func (e *Error) Error() string { return "usage: " + e.Message }
