package schema

import "github.com/stopgate/stopgate/jsonstream"

// Schema is the parameters of one tool.
type Schema struct {
	// Root is the schema of the complete arguments.
	Root *Node
	// Source is the origin of the schema.
	Source Source

	start   *Location
	aliases bool // some parameter has an alias

	text       jsonstream.Value // of FromJSON
	base, file *Schema          // of Overlaid
}

// Source is the origin of a schema (K25).
type Source uint8

// The sources. The zero Source is unknown.
const (
	Unknown Source = iota
	FromFile
	FromJSON
	Overlaid
)

// Note is a part of a JSON Schema that is not, or not completely, understood. `check` always shows
// it (K0g, K23).
type Note struct {
	// Pointer is the location of the keyword in the schema's text.
	Pointer string
	// Keyword is the keyword, such as "patternProperties".
	Keyword string
	// Message is the consequence.
	Message string
}

// Location returns the location of the complete arguments. That of the nil Schema is unknown.
func (s *Schema) Location() *Location {
	if s == nil || s.start == nil {
		return anything
	}
	return s.start
}

// Validate checks complete arguments against the schema and returns the first
// violation, nil if they fit (K0g, K14).
func (s *Schema) Validate(v jsonstream.Value) *Violation { return new(Validator).Validate(s, v) }
