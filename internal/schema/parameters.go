package schema

import "strings"

// Parameter is one parameter of a tool in a policy file. Values are JSON texts, so that numbers
// stay exact (K26).
type Parameter struct {
	Name string
	// Type are type names: those of JSON Schema, and path, command, url. Empty: object if there are
	// Properties, array if there are Items, else an error.
	Type        []string
	Required    bool
	Title       string
	Description string
	Aliases     []string // other names (B6)
	Expands     bool     // C15

	Items      *Parameter
	Properties []Parameter // order of the file (D26-29)
	// Additional is nil if the file does not set it.
	Additional *AdditionalParameter

	Enum    []string // JSON texts
	Const   string   // JSON text, "" for none
	Default string   // JSON text, "" for none

	// JSON numbers, "" for none.
	Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum, MultipleOf string

	MinLength, MaxLength, MinItems, MaxItems, MinProperties, MaxProperties *int

	UniqueItems bool
	Pattern     string

	// As is the name of the kind by which origins of the value are compared, "" if the file does not
	// say.
	As string

	// Pos is the caller's own position of the table, for errors.
	Pos any
}

// AdditionalParameter is which other members an object may have: those that fit Schema, or without
// one all (Allowed) or none.
type AdditionalParameter struct {
	Allowed bool
	Schema  *Parameter
}

// ParameterError is one mistake in a declaration.
type ParameterError struct {
	// Path names the parameter: "patterns.items.paths".
	Path string
	// Field is the invalid key of the table: "type", "default".
	Field string
	// Message is the mistake, Hint the remedy.
	Message, Hint string
	// Pos is that of the parameter.
	Pos any
}

// Error returns the path, the field and the message.
func (e *ParameterError) Error() string {
	s := e.Path + ": " + e.Field + ": " + e.Message
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// ParameterErrors are all mistakes of a declaration, in order.
type ParameterErrors []*ParameterError

// Error returns all mistakes, one per line.
func (e ParameterErrors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}
