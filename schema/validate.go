package schema

import "github.com/stopgate/stopgate/jsonstream"

// Violation is the first way in which arguments do not fit a schema.
type Violation struct {
	// Pointer is the value that does not fit, or the object that lacks a member.
	Pointer string
	// Keyword is the keyword of JSON Schema that is violated.
	Keyword string
	// Message says what was expected. It names declared members only and holds no
	// values of the call.
	Message string
}

// Error gives pointer and message.
func (v *Violation) Error() string { return v.Pointer + ": " + v.Message }

// Validator checks arguments. It keeps its buffers: reused, a check of arguments
// that fit allocates nothing. The zero Validator is ready; it is not safe for
// concurrent use.
type Validator struct{}

// Validate returns the first violation of s by v, nil if v fits. It looks at the
// type, then at required members, then at the rest of the schema in the order of
// its declaration, depth first. Nothing violates the nil Schema.
func (c *Validator) Validate(s *Schema, v jsonstream.Value) *Violation {
	return &Violation{Message: "validation is not built"}
}
