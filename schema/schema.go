package schema

import "github.com/stopgate/stopgate/jsonstream"

// Schema is the parameters of one tool.
type Schema struct {
	// Root is the schema of the whole arguments.
	Root *Node
	// Source says where the schema came from.
	Source Source

	places *places
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
func (s *Schema) Place() *Place { return nil }

// Hash identifies the meaning of a schema: 64 hexadecimal digits over all that
// decides, annotations and aliases included; titles and descriptions are part of
// it too, because models act on them (G4).
func (s *Schema) Hash() string { return "" }

// ToJSONSchema prints the schema for models: keys in the order of the source,
// the types path, command and url as string (D25-17, D26-29).
func (s *Schema) ToJSONSchema() []byte { return nil }

// Validate checks complete arguments against the schema and returns the first
// violation, nil if they fit (K0g, K14).
func (s *Schema) Validate(v jsonstream.Value) *Violation { return new(Validator).Validate(s, v) }
