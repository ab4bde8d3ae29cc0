package schema

import (
	"iter"

	"github.com/stopgate/stopgate/jsonstream"
)

// Reach is what a pointer of a rule reaches (K22, K23, D25-13).
type Reach struct {
	// Places are the places of all branches, arrays flattened: where the pointer
	// ends at an array its elements are in the list too, at any depth.
	Places []*Place
	// Types are the types of all places together, without Null; Array is among
	// them where the pointer ends at an array.
	Types Type
	// Annotation is the most cautious one of the places.
	Annotation Annotation
	// Expands: the tool expands wildcards in the value.
	Expands bool
	// CrossesArray: the pointer may reach several leaves.
	CrossesArray bool
	// Optional: a value that fits the schema may lack the leaf.
	Optional bool
	// Unknown: the schema does not say everything about this pointer.
	Unknown bool
	// Missing is the index of the first segment that resolves to nothing (D25-15),
	// -1 if all do. Nothing else is then set but Problem, Suggestion and Expanded.
	Missing int
	// Problem says why, in words for a diagnostic.
	Problem string
	// Suggestion is a declared name that the missing segment resembles, or "".
	Suggestion string
	// Expanded is the pointer with "*" written for each array it crosses (Q1).
	Expanded string
}

// Reach walks a pointer through the schema. "*" stands for the elements of an
// array and is an ordinary key everywhere else; arrays that are not written are
// crossed by themselves (Q1).
func (s *Schema) Reach(p jsonstream.Pointer) Reach { return Reach{Missing: -1, Unknown: true} }

// All yields every place below the root with its expanded pointer, parents
// before children, members in source order. A place that contains itself is
// yielded once on each way to it.
func (s *Schema) All() iter.Seq2[jsonstream.Pointer, *Place] {
	return func(yield func(jsonstream.Pointer, *Place) bool) {}
}
