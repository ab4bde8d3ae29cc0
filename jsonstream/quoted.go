package jsonstream

// ScanString returns the length of the JSON string that text starts with, its
// quotes included, and whether it contains an escape. It is 0 if text does not
// start with a string that a [Parser] accepts. It is for a caller that knows
// what stands around the string already.
func ScanString(text []byte) (n int, escaped bool) {
	if len(text) == 0 || text[0] != '"' {
		return 0, false
	}
	end, info := scanString(text, 1)
	if end == refused {
		return 0, false
	}
	return end, info&infoEscaped != 0
}

// AppendUnescaped appends the decoded text of a string that was accepted; inside
// is the string without its quotes.
func AppendUnescaped(dst, inside []byte) []byte { return appendUnescaped(dst, inside) }
