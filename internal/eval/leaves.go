package eval

import (
	"slices"
	"strconv"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Leaf is a value of complete arguments that contains no other: a scalar, an empty object or array,
// or an argument vector.
type Leaf struct {
	// Pointer is the RFC 6901 pointer of the value.
	Pointer string
	// Annotation is the annotation of the value, from the first file that has one.
	Annotation schema.Annotation
	// Known is set if every schema describes the location: a string there without an annotation is
	// no path, command or URL.
	Known bool
	// Value is valid until the evaluation is reset.
	Value jsonstream.Value
}

// Leaves returns the leaves of accepted arguments, in text order: grants are made from them and
// matched against them (S34). It returns nil unless Close accepted the arguments.
func (e *Evaluation) Leaves() []Leaf {
	if !e.accepted {
		return nil
	}
	locations := make([]*schema.Location, len(e.plan.views))
	for i, v := range e.plan.views {
		locations[i] = v.schema.Location()
	}
	return appendLeaves(nil, "", e.args.Document().Root(), locations)
}

// appendLeaves adds the leaves of one value, which has a location in every view.
func appendLeaves(leaves []Leaf, pointer string, v jsonstream.Value, locations []*schema.Location) []Leaf {
	below, empty := make([]*schema.Location, len(locations)), true
	switch v.Kind() {
	case jsonstream.Object:
		for key, member := range v.Members() {
			name := key.AppendText(nil)
			for i, p := range locations {
				below[i] = p.Member(name).Location
			}
			leaves = appendLeaves(leaves, pointer+jsonstream.Pointer{string(name)}.String(), member, below)
			empty = false
		}
	case jsonstream.Array:
		if slices.ContainsFunc(locations, (*schema.Location).Vector) {
			break // a single value
		}
		n := 0
		for element := range v.Elements() {
			for i, p := range locations {
				below[i] = p.Item(n)
			}
			leaves = appendLeaves(leaves, pointer+"/"+strconv.Itoa(n), element, below)
			empty = false
			n++
		}
	}
	if !empty {
		return leaves
	}
	leaf := Leaf{Pointer: pointer, Value: v, Known: len(locations) > 0}
	for _, p := range locations {
		leaf.Known = leaf.Known && !p.Unknown()
		if leaf.Annotation == schema.None {
			leaf.Annotation = p.Annotation()
		}
	}
	return append(leaves, leaf)
}
