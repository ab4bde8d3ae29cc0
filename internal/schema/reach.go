package schema

import (
	"iter"
	"slices"
	"strconv"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/jsonstream"
)

// Reach is the result of resolving a pointer of a rule (K22, K23, D25-13).
type Reach struct {
	// Locations are the locations of all branches, arrays flattened: if the pointer ends at an
	// array its elements are included too, at any depth.
	Locations []*Location
	// Types are the types of all locations together, without Null; Array is included if the pointer
	// ends at an array.
	Types Type
	// Annotation is the most cautious one of the locations.
	Annotation Annotation
	// As is how origins of the value are compared.
	As flow.Kind
	// Expands: the tool expands wildcards in the value.
	Expands bool
	// CrossesArray: the pointer may reach several leaves.
	CrossesArray bool
	// Optional: a value that fits the schema may lack the leaf.
	Optional bool
	// Unknown: the schema does not describe this pointer completely.
	Unknown bool
	// Missing is the index of the first segment that does not resolve (D25-15), -1 if all do. If it
	// is set, of the other fields only Problem, Suggestion, Names and Expanded are.
	Missing int
	// Problem is the reason, for a diagnostic.
	Problem string
	// Suggestion is a declared name that resembles the missing segment, or "".
	Suggestion string
	// Names are the declared parameters where the segment is missing, if none of them resembles it.
	Names []string
	// Expanded is the pointer with "*" for each array it crosses (Q1); if it does not resolve, the
	// part that does.
	Expanded string
}

// Reach resolves a pointer. "*" matches the elements of an array and is an ordinary key everywhere
// else; arrays are also crossed without "*" (Q1).
func (s *Schema) Reach(p jsonstream.Pointer) Reach {
	if len(p) == 0 {
		return Reach{Problem: "the empty pointer names the whole call; name a parameter"}
	}
	w := walk{at: []*Location{s.Location()}, reach: Reach{Missing: -1}}
	for i, segment := range p {
		if !w.step(segment) {
			w.reach = Reach{Missing: i, Problem: w.reach.Problem, Suggestion: w.reach.Suggestion, Names: w.reach.Names}
			w.reach.Expanded = w.expanded.String()
			return w.reach
		}
	}
	w.flatten()
	r := &w.reach
	for _, loc := range w.at {
		r.Types = r.Types.Union(loc.Seen() &^ Null)
		r.Annotation = max(r.Annotation, loc.annotation)
		r.Expands = r.Expands || loc.expands
		r.Unknown = r.Unknown || loc.unknown
	}
	r.Locations, r.Expanded, r.As = w.at, w.expanded.String(), asOf(w.at)
	return *r
}

// walk is the resolution of a pointer.
type walk struct {
	at       []*Location
	expanded jsonstream.Pointer
	reach    Reach
}

// flatten adds the elements of arrays, at any depth, to the current locations, and a "*" for each
// level to the expanded pointer.
func (w *walk) flatten() {
	from := w.at
	for len(from) > 0 {
		var elements []*Location
		known := false
		for _, loc := range from {
			if loc.types&Array == 0 || loc.Vector() {
				continue
			}
			w.reach.CrossesArray, w.reach.Optional = true, true
			known = known || loc.isArray()
			if loc.items == anything && len(loc.declared) > 0 {
				continue // it has no type, but describes only an object
			}
			if !slices.Contains(w.at, loc.items) && !slices.Contains(elements, loc.items) {
				elements = append(elements, loc.items)
			}
		}
		if known {
			w.expanded = append(w.expanded, "*")
		}
		w.at = append(w.at[:len(w.at):len(w.at)], elements...)
		from = elements
	}
}

// step resolves one segment. It returns false if it does not resolve.
func (w *walk) step(segment string) bool {
	if segment == "*" {
		if next := w.elements(); len(next) > 0 {
			w.at, w.expanded = next, append(w.expanded, "*")
			return true
		}
	}
	before := len(w.expanded)
	indexing := isIndex(segment) && slices.ContainsFunc(w.at, (*Location).isArray)
	w.flatten()
	var next []*Location
	for _, loc := range w.at {
		if loc.types&Object == 0 || indexing && !loc.declares(segment) {
			w.reach.Optional = true
			continue
		}
		m := loc.Member([]byte(segment))
		child := m.Location
		switch m.Kind {
		case DeclaredName:
			w.reach.Optional = w.reach.Optional || !loc.declared[m.Property].Required
		case FreeForm:
			w.reach.Optional = true
		default:
			w.reach.Optional = true
			if m.Kind == Alias || !loc.unknown {
				continue
			}
			child = anything
		}
		if !slices.Contains(next, child) {
			next = append(next, child)
		}
	}
	if len(next) == 0 {
		w.expanded = w.expanded[:before]
		w.explain(segment, indexing)
		return false
	}
	w.at, w.expanded = next, append(w.expanded, segment)
	return true
}

// elements returns the locations of "*" if the schema has an array.
func (w *walk) elements() []*Location {
	var next []*Location
	for _, loc := range w.at {
		if loc.types&Array == 0 || loc.Vector() || loc.declares("*") {
			w.reach.Optional = true
			continue
		}
		w.reach.CrossesArray, w.reach.Optional = true, true
		if !slices.Contains(next, loc.items) {
			next = append(next, loc.items)
		}
	}
	return next
}

// explain sets the reason why a segment does not resolve.
func (w *walk) explain(segment string, indexing bool) {
	r := &w.reach
	var names []string
	var types Type
	for _, loc := range w.at {
		types = types.Union(loc.types)
		for _, d := range loc.declared {
			if slices.Contains(d.Aliases, segment) {
				r.Problem = strconv.Quote(segment) + " is an alias; rules name the parameter itself"
				r.Suggestion = d.Name
				return
			}
			names = append(names, d.Name)
		}
	}
	switch {
	case slices.ContainsFunc(w.at, (*Location).Vector):
		r.Problem = "the words of an argument vector are one command; rules look at the vector itself"
	case indexing:
		r.Problem = "elements of an array are not addressed by index; write * for all of them, or leave the segment out"
		r.Suggestion = "*"
	case types&Object == 0:
		r.Problem = "there is nothing below " + types.describe()
	case segment == "*":
		r.Problem = "* stands for the elements of an array, and there is none here"
	default:
		r.Problem = "no parameter is named " + strconv.Quote(segment) + " here"
		if r.Suggestion = resembling(segment, names); r.Suggestion == "" {
			r.Names = names
		}
	}
}

// isArray reports whether the schema declares an array here.
func (p *Location) isArray() bool {
	return p.types&Array != 0 && (p.types != AnyType || p.items != anything)
}

// declares reports whether a key is the exact name of a declared member.
func (p *Location) declares(key string) bool {
	n, ok := p.names[key]
	return ok && !n.alias
}

// isIndex reports whether a segment looks like the index of an array element.
func isIndex(segment string) bool {
	n, err := strconv.Atoi(segment)
	return err == nil && n >= 0 || segment == "-"
}

// maxAll is the maximum number of pointers that All yields: schemas with shared parts can have
// exponentially many.
const maxAll = 10_000

// All yields every location below the root with its expanded pointer, parents before children,
// members in source order. A location that contains itself is visited once on each path to it. It
// stops after 10,000 locations.
func (s *Schema) All() iter.Seq2[jsonstream.Pointer, *Location] {
	return func(yield func(jsonstream.Pointer, *Location) bool) {
		left := maxAll
		var pointer jsonstream.Pointer
		var above []*Location
		var descend func(p *Location) bool
		below := func(segment string, p *Location) bool {
			if left--; left < 0 {
				return false
			}
			pointer = append(pointer, segment)
			ok := yield(slices.Clone(pointer), p) && (slices.Contains(above, p) || descend(p))
			pointer = pointer[:len(pointer)-1]
			return ok
		}
		descend = func(p *Location) bool {
			above = append(above, p)
			defer func() { above = above[:len(above)-1] }()
			for _, d := range p.declared {
				if !below(d.Name, d.Location) {
					return false
				}
			}
			return p.items == anything || p.Vector() || below("*", p.items)
		}
		descend(s.Location())
	}
}
