package schema

import "github.com/stopgate/stopgate/jsonstream"

// Place is what a schema says about one place in the arguments: the union over
// all branches of `$ref`, allOf, anyOf and oneOf (K23). Places are immutable and
// comparable by pointer; recursion leads back to the same place.
type Place struct{}

type places struct{}

// Types returns the types a value here may have, Null included.
func (p *Place) Types() Type { return AnyType }

// Annotation returns the most cautious annotation of any branch.
func (p *Place) Annotation() Annotation { return None }

// Has reports whether any branch carries the annotation: what guards on a type
// look at (K0a).
func (p *Place) Has(a Annotation) bool { return false }

// Expands reports whether the tool expands wildcards in the value (C15).
func (p *Place) Expands() bool { return false }

// Unknown reports that the schema does not say, or not fully, what is here and
// below (K23). Pointers then follow the value.
func (p *Place) Unknown() bool { return true }

// Defaults returns the values that branches give for an absent value (B9).
func (p *Place) Defaults() []jsonstream.Value { return nil }

// Properties returns the declared members of an object here, in source order.
func (p *Place) Properties() []Declared { return nil }

// Declared is one declared member of the object at a place.
type Declared struct {
	Name string
	// Required: arguments without it do not fit the schema, whatever the branch.
	Required bool
	Place    *Place
	Aliases  []string
}

// MemberKind says what a key is to the schema (K24).
type MemberKind uint8

// The zero MemberKind is undeclared.
const (
	// Undeclared keys raise the floor unknown_parameter.
	Undeclared MemberKind = iota
	// Forbidden keys are undeclared and additionalProperties is false: the call
	// violates the schema (A26).
	Forbidden
	// Ambiguous keys can be read as a declared name by a tool that drops control
	// characters, or as several declared names: deny ambiguous_key (A6).
	Ambiguous
	// FreeForm keys are data: the key of a map.
	FreeForm
	// Alias is another exact name of a declared member (B6).
	Alias
	// DeclaredName is the exact name of a declared member.
	DeclaredName
)

// Member is the answer to a key.
type Member struct {
	Kind MemberKind
	// Property is the index in [Place.Properties] of the declared member that the
	// key is, or that it folds to; -1 if none. Two keys of one object with the same
	// Property, neither of them -1, are ambiguous (A4, A5, A25, B6).
	Property int
	// Place is where the value goes. It is never nil.
	Place *Place
}

// Member says what a key of the object at p is. Only undeclared keys allocate.
func (p *Place) Member(key []byte) Member { return Member{Property: -1, Place: p} }

// Items returns the place of the elements of an array here, whatever their
// index. It is never nil.
func (p *Place) Items() *Place { return p }

// Item returns the place of the element with an index counted from 0.
func (p *Place) Item(index int) *Place { return p }
