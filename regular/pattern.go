package regular

import "fmt"

// Pattern is a compiled pattern. It is immutable.
type Pattern struct {
	source string
}

// SyntaxError says where and why a pattern cannot be compiled.
type SyntaxError struct {
	// Offset is the number of bytes before the fault.
	Offset int
	// Message says what is wrong.
	Message string
	// Hint says what to write instead, "" if there is nothing to say.
	Hint string
	// Unsupported is set if the pattern is valid ECMA-262 that this package does
	// not run; otherwise ECMAScript engines refuse it too.
	Unsupported bool
}

// Error gives message, place and hint in one line.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("pattern: %s at byte %d", e.Message, e.Offset)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Compile prepares a pattern (D25-22). The error is a *SyntaxError.
func Compile(pattern string) (*Pattern, error) {
	return nil, &SyntaxError{Message: "patterns are not built"}
}

// Match reports whether the pattern is found anywhere in text. Bytes that are
// not UTF-8 are read as U+FFFD each; JSON text that was accepted has none.
func (p *Pattern) Match(text []byte) bool { return false }

// AnchoredBothEnds reports whether every match of the pattern spans the whole
// text, because each alternative begins with ^ and ends with $ (D1, D2).
func (p *Pattern) AnchoredBothEnds() bool { return false }

// String returns the pattern as it was written.
func (p *Pattern) String() string { return p.source }
