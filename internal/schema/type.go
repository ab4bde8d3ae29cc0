package schema

import "strings"

// Type is a set of JSON types. The zero Type allows no value.
type Type uint8

// The JSON types. Integer is a number without a fractional part (1.0 is one, A20). A set with
// Number allows every integer; sets of this package then omit Integer.
const (
	String Type = 1 << iota
	Number
	Integer
	Boolean
	Array
	Object
	Null
)

// AnyType is the set of all types, allowed by a schema without `type`.
const AnyType = String | Number | Boolean | Array | Object | Null

var typeNames = [...]string{"string", "number", "integer", "boolean", "array", "object", "null"}

// ParseType finds a type by its name in JSON Schema.
func ParseType(name string) (Type, bool) {
	for i, n := range typeNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// String returns the types as JSON Schema spells them, "string or null".
func (t Type) String() string {
	switch t {
	case 0:
		return "nothing"
	case AnyType:
		return "anything"
	}
	var names []string
	for i, n := range typeNames {
		if t&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, " or ")
}

// normal omits Integer if the set has Number.
func (t Type) normal() Type {
	if t&Number != 0 {
		return t &^ Integer
	}
	return t
}

// Union returns the types that either set allows.
func (t Type) Union(u Type) Type { return (t | u).normal() }

// Intersect returns the types that both sets allow. An integer is a number.
func (t Type) Intersect(u Type) Type {
	common := t & u
	if t&Number != 0 {
		common |= u & Integer
	}
	if u&Number != 0 {
		common |= t & Integer
	}
	return common.normal()
}

// describe returns the types with their articles, "a string or an array".
func (t Type) describe() string {
	names := strings.Split(t.String(), " or ")
	for i, name := range names {
		switch name {
		case "nothing", "anything", "null":
		case "integer", "array", "object":
			names[i] = "an " + name
		default:
			names[i] = "a " + name
		}
	}
	return strings.Join(names, " or ")
}

// Annotation is the meaning of a string, or of a list of strings. Models see plain ones (D25-17).
type Annotation uint8

// The annotations of the policy language, more cautious ones later.
const (
	None Annotation = iota
	URL
	Path
	Command
	Patch // names files, as an apply_patch text or a unified diff (S40)
	Argv  // an array: the words of one command, which no shell reads (S40)
)

var annotationNames = [...]string{None: "", URL: "url", Path: "path", Command: "command", Patch: "patch", Argv: "argv"}

// ParseAnnotation finds an annotation by its name in policy files and in
// `x-stopgate-type`.
func ParseAnnotation(name string) (Annotation, bool) {
	for a := URL; a <= Argv; a++ {
		if annotationNames[a] == name {
			return a, true
		}
	}
	return None, false
}

// String returns the annotation as policy files spell it, "" for None.
func (a Annotation) String() string {
	if int(a) < len(annotationNames) {
		return annotationNames[a]
	}
	return ""
}
