// Package schema holds a tool's parameters as a tree: from a policy file, from
// JSON Schema or from both.
package schema

// Type is a set of JSON types.
type Type uint8

// The JSON types. Integer is a number without a fractional part (1.0 is one).
const (
	String Type = 1 << iota
	Number
	Integer
	Boolean
	Array
	Object
	Null
)

// Annotation narrows what a string means. Models see a plain string.
type Annotation uint8

// The annotations of the policy language.
const (
	None Annotation = iota
	Path
	Command
	URL
)
