package occur

// Readings calls each for a value, and for everything that it could encode, until each returns
// false. It reports whether there may be more.
func Readings(value []byte, each func(text []byte) bool) (open bool) {
	return !each(value)
}

// Segments returns the segments of a value like "owner/name", nil if it has one.
func Segments(value []byte) [][]byte { return nil }
