package schema

import (
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

// Node is one schema object. Nodes form a graph: a reference may lead back to a
// node further up. They are not changed after they were built.
type Node struct {
	// Types are the types the node itself allows; AnyType if it says nothing, none
	// if it is the schema `false`.
	Types Type
	// Annotation says what a string names, or a list of strings.
	Annotation Annotation
	// Expands says that the tool expands wildcards in the value (C15).
	Expands bool
	// Declared says that a parameter table declares the value, not only the schema of a
	// request or server.
	Declared bool
	// Nullable allows null whatever the rest says (K23).
	Nullable bool

	Title, Description string
	// Default is the value the tool takes for an absent one (B9). Invalid if none.
	Default jsonstream.Value

	// Properties are the declared members of an object, in the order of the source.
	// HasProperties tells an empty list from none (K24).
	Properties    []Property
	HasProperties bool
	// Additional says what other members an object may have.
	Additional       Additional
	AdditionalSchema *Node
	// Required are the names of members that must be there, in source order.
	Required                     []string
	MinProperties, MaxProperties *int
	PropertyNames                *Node
	PatternProperties            []PatternProperty
	DependentRequired            []DependentRequired
	DependentSchemas             []Property

	// Items is the schema of array elements behind those of PrefixItems.
	Items                    *Node
	PrefixItems              []*Node
	MinItems, MaxItems       *int
	UniqueItems              bool
	Contains                 *Node
	MinContains, MaxContains *int

	// Enum and Const are the values allowed. HasEnum tells an empty list from none;
	// Const is invalid if there is none.
	Enum    []jsonstream.Value
	HasEnum bool
	Const   jsonstream.Value

	Minimum, Maximum                   *jsonstream.Decimal
	ExclusiveMinimum, ExclusiveMaximum *jsonstream.Decimal
	MultipleOf                         *jsonstream.Decimal

	// MinLength and MaxLength count code points.
	MinLength, MaxLength *int
	Pattern              *regular.Pattern

	// Ref is the schema that `$ref` names; it applies beside everything else.
	Ref                 *Node
	AllOf, AnyOf, OneOf []*Node
	Not, If, Then, Else *Node

	// Open says that the node hides structure from pointers: below it members and
	// elements may have schemas that no place shows (K23).
	Open bool
	// Unvalidated names the keywords that are not validated, each with a Note.
	Unvalidated []string

	at       *trail          // where the source has it, for messages
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
	// Aliases are further names of the member that the tool accepts (B6).
	Aliases []string
}

// PatternProperty is the schema of all members whose name a pattern finds.
type PatternProperty struct {
	Pattern *regular.Pattern
	Node    *Node
}

// DependentRequired lists members that must be there if Name is.
type DependentRequired struct {
	Name     string
	Required []string
}

// Additional says what `additionalProperties` says.
type Additional uint8

// The forms of `additionalProperties`.
const (
	AdditionalUnset Additional = iota
	AdditionalForbidden
	AdditionalAllowed
	AdditionalBySchema
)

// beside lists the schemas that apply to the same value as n.
func (n *Node) beside() []*Node {
	list := slices.Concat([]*Node{n.Ref, n.Not, n.If, n.Then, n.Else}, n.AllOf, n.AnyOf, n.OneOf)
	for _, p := range n.DependentSchemas {
		list = append(list, p.Node)
	}
	return slices.DeleteFunc(list, isNil)
}

// below lists the schemas of members, elements and names of the value. No node is
// below two others, or twice below one: what is shared is shared by Ref.
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
