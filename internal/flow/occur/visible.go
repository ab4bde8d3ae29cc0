package occur

// Part is a part of a text that people see, or do not.
type Part struct {
	Text   []byte
	Hidden bool
}

// Visible returns the parts of a text.
func Visible(text []byte) []Part { return []Part{{Text: text}} }
