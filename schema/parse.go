package schema

// ParseError says where a text is not a usable JSON Schema.
type ParseError struct {
	// Pointer is the place in the schema's text.
	Pointer string
	Message string
}

// Error gives place and message.
func (e *ParseError) Error() string {
	at := e.Pointer
	if at == "" {
		at = "the root"
	}
	return "schema: " + e.Message + " at " + at
}

// ParseJSON reads a JSON Schema: the keywords of draft 2020-12 with the older
// spellings that tools still use (definitions, boolean exclusive bounds, lists as
// items, nullable). Keywords outside of that are notes. The text is kept by
// reference. The error is a *ParseError.
func ParseJSON(text []byte) (*Schema, []Note, error) {
	return nil, nil, &ParseError{Message: "schemas are not built"}
}
