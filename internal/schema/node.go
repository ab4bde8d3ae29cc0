package schema

import (
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

// Node is one schema object. Nodes form a graph: a reference may lead back to a node above. They
// are immutable once built.
type Node struct {
	// Types are the types that the node itself allows; AnyType without `type`, none for the schema
	// `false`.
	Types Type
	// Annotation is the meaning of a string, or of a list of strings.
	Annotation Annotation
	// As is how origins of the value are compared.
	As As
	// Expands is set if the tool expands wildcards in the value (C15).
	Expands bool
	// Declared is set if a parameter table declares the value, and not only the schema of a request
	// or server.
	Declared bool
	// Nullable allows null in addition to everything else (K23).
	Nullable bool

	Title, Description string
	// Default is the value that the tool uses for an absent one (B9). Invalid if there is none.
	Default jsonstream.Value

	// Properties are the declared members of an object, in source order. HasProperties
	// distinguishes an empty list from none (K24).
	Properties    []Property
	HasProperties bool
	// Additional is which other members an object may have.
	Additional       Additional
	AdditionalSchema *Node
	// Required are the names of required members, in source order.
	Required                     []string
	MinProperties, MaxProperties *int
	PropertyNames                *Node
	PatternProperties            []PatternProperty
	DependentRequired            []DependentRequired
	DependentSchemas             []Property

	// Items is the schema of array elements after those of PrefixItems.
	Items                    *Node
	PrefixItems              []*Node
	MinItems, MaxItems       *int
	UniqueItems              bool
	Contains                 *Node
	MinContains, MaxContains *int

	// Enum and Const are the allowed values. HasEnum distinguishes an empty list from none; Const
	// is invalid if there is none.
	Enum    []jsonstream.Value
	HasEnum bool
	Const   jsonstream.Value

	Minimum, Maximum                   *jsonstream.Decimal
	ExclusiveMinimum, ExclusiveMaximum *jsonstream.Decimal
	MultipleOf                         *jsonstream.Decimal

	// MinLength and MaxLength count code points.
	MinLength, MaxLength *int
	Pattern              *regular.Pattern

	// Ref is the target of `$ref`; it applies in addition to everything else.
	Ref                 *Node
	AllOf, AnyOf, OneOf []*Node
	Not, If, Then, Else *Node

	// Open is set if the node hides structure from pointers: members and elements below may have
	// schemas that no location has (K23).
	Open bool
	// Unvalidated names the keywords that are not validated, each with a Note.
	Unvalidated []string

	at       *trail          // its path in the source, for messages
	index    map[string]int  // name -> Properties
	allowed  map[string]bool // canonical texts of Enum; nil without HasEnum
	exactly  string          // canonical text of Const
	combines bool            // other schemas apply to the same value
}

// Property is a declared member of an object.
type Property struct {
	Name string
	// Node is the schema of the member's value.
	Node *Node
	// Aliases are other names of the member that the tool accepts (B6).
	Aliases []string
}

// PatternProperty is the schema of all members whose name matches a pattern.
type PatternProperty struct {
	Pattern *regular.Pattern
	Node    *Node
}

// DependentRequired are the members that are required if Name is present.
type DependentRequired struct {
	Name     string
	Required []string
}

// Additional is the form of `additionalProperties`.
type Additional uint8

// The forms of `additionalProperties`.
const (
	AdditionalUnset Additional = iota
	AdditionalForbidden
	AdditionalAllowed
	AdditionalBySchema
)

// siblings returns the schemas that apply to the same value as n.
func (n *Node) siblings() []*Node {
	list := slices.Concat([]*Node{n.Ref, n.Not, n.If, n.Then, n.Else}, n.AllOf, n.AnyOf, n.OneOf)
	for _, p := range n.DependentSchemas {
		list = append(list, p.Node)
	}
	return slices.DeleteFunc(list, isNil)
}

// below returns the schemas of members, elements and names of the value. No node has two parents,
// or is below one twice: shared nodes are shared by Ref.
func (n *Node) below() []*Node {
	list := slices.Concat([]*Node{n.AdditionalSchema, n.PropertyNames, n.Items, n.Contains}, n.PrefixItems)
	for _, p := range n.Properties {
		list = append(list, p.Node)
	}
	for _, p := range n.PatternProperties {
		list = append(list, p.Node)
	}
	return slices.DeleteFunc(list, isNil)
}

func isNil(n *Node) bool { return n == nil }
