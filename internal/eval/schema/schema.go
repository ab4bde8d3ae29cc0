package schema

import "github.com/stopgate/stopgate/jsonstream"

// Schema is the parameters of one tool.
type Schema struct {
	// Root is the schema of the whole arguments.
	Root *Node
	// Source says where the schema came from.
	Source Source

	start   *Place
	aliases bool // some parameter has an alias

	text       jsonstream.Value // of FromJSON
	base, file *Schema          // of Overlaid
}

// Source says where a schema came from (K25).
type Source uint8

// The sources. The zero Source is unknown.
const (
	Unknown Source = iota
	FromFile
	FromJSON
	Overlaid
)

// Note is something in a JSON Schema that is not, or not wholly, understood. It
// is shown by `check` and never hides (K0g, K23).
type Note struct {
	// Pointer is where the keyword stands in the schema's text.
	Pointer string
	// Keyword is the keyword, such as "patternProperties".
	Keyword string
	// Message says what follows from it.
	Message string
}

// Place returns the place of the whole arguments. The nil Schema gives a place
// where anything may be.
func (s *Schema) Place() *Place {
	if s == nil || s.start == nil {
		return anything
	}
	return s.start
}

// Validate checks complete arguments against the schema and returns the first
// violation, nil if they fit (K0g, K14).
func (s *Schema) Validate(v jsonstream.Value) *Violation { return new(Validator).Validate(s, v) }
