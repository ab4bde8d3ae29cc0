package schema

import (
	"iter"
	"slices"
	"strconv"

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
	// Names are the parameters that there are where Missing is named, if none of them looks
	// like it.
	Names []string
	// Expanded is the pointer with "*" written for each array it crosses (Q1); of a
	// pointer that does not resolve, the part that does.
	Expanded string
}

// Reach walks a pointer through the schema. "*" stands for the elements of an
// array and is an ordinary key everywhere else; arrays that are not written are
// crossed by themselves (Q1).
func (s *Schema) Reach(p jsonstream.Pointer) Reach {
	if len(p) == 0 {
		return Reach{Problem: "the empty pointer names the whole call; name a parameter"}
	}
	w := walk{at: []*Place{s.Place()}, reach: Reach{Missing: -1}}
	for i, segment := range p {
		if !w.step(segment) {
			w.reach = Reach{Missing: i, Problem: w.reach.Problem, Suggestion: w.reach.Suggestion, Names: w.reach.Names}
			w.reach.Expanded = w.expanded.String()
			return w.reach
		}
	}
	w.flatten()
	r := &w.reach
	for _, place := range w.at {
		r.Types = r.Types.Union(place.Seen() &^ Null)
		r.Annotation = max(r.Annotation, place.annotation)
		r.Expands = r.Expands || place.expands
		r.Unknown = r.Unknown || place.unknown
	}
	r.Places, r.Expanded = w.at, w.expanded.String()
	return *r
}

// walk is a pointer on its way through the places.
type walk struct {
	at       []*Place
	expanded jsonstream.Pointer
	reach    Reach
}

// flatten adds the elements of arrays, at any depth, to where the walk is, and
// writes a "*" for each level.
func (w *walk) flatten() {
	from := w.at
	for len(from) > 0 {
		var elements []*Place
		known := false
		for _, place := range from {
			if place.types&Array == 0 || place.Vector() {
				continue
			}
			w.reach.CrossesArray, w.reach.Optional = true, true
			known = known || place.isArray()
			if place.items == anything && len(place.declared) > 0 {
				continue // it has no type, but speaks of an object only
			}
			if !slices.Contains(w.at, place.items) && !slices.Contains(elements, place.items) {
				elements = append(elements, place.items)
			}
		}
		if known {
			w.expanded = append(w.expanded, "*")
		}
		w.at = append(w.at[:len(w.at):len(w.at)], elements...)
		from = elements
	}
}

// step takes one segment. It reports whether anything is there.
func (w *walk) step(segment string) bool {
	if segment == "*" {
		if next := w.elements(); len(next) > 0 {
			w.at, w.expanded = next, append(w.expanded, "*")
			return true
		}
	}
	before := len(w.expanded)
	indexing := isIndex(segment) && slices.ContainsFunc(w.at, (*Place).isArray)
	w.flatten()
	var next []*Place
	for _, place := range w.at {
		if place.types&Object == 0 || indexing && !place.declares(segment) {
			w.reach.Optional = true
			continue
		}
		m := place.Member([]byte(segment))
		child := m.Place
		switch m.Kind {
		case DeclaredName:
			w.reach.Optional = w.reach.Optional || !place.declared[m.Property].Required
		case FreeForm:
			w.reach.Optional = true
		default:
			w.reach.Optional = true
			if m.Kind == Alias || !place.unknown {
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

// elements returns the places of "*", where the schema has an array.
func (w *walk) elements() []*Place {
	var next []*Place
	for _, place := range w.at {
		if place.types&Array == 0 || place.Vector() || place.declares("*") {
			w.reach.Optional = true
			continue
		}
		w.reach.CrossesArray, w.reach.Optional = true, true
		if !slices.Contains(next, place.items) {
			next = append(next, place.items)
		}
	}
	return next
}

// explain says why a segment resolves to nothing.
func (w *walk) explain(segment string, indexing bool) {
	r := &w.reach
	var names []string
	var types Type
	for _, place := range w.at {
		types = types.Union(place.types)
		for _, d := range place.declared {
			if slices.Contains(d.Aliases, segment) {
				r.Problem = strconv.Quote(segment) + " is an alias; rules name the parameter itself"
				r.Suggestion = d.Name
				return
			}
			names = append(names, d.Name)
		}
	}
	switch {
	case slices.ContainsFunc(w.at, (*Place).Vector):
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

// isArray reports whether the schema speaks of an array here.
func (p *Place) isArray() bool {
	return p.types&Array != 0 && (p.types != AnyType || p.items != anything)
}

// declares reports whether a key is the exact name of a declared member.
func (p *Place) declares(key string) bool {
	n, ok := p.names[key]
	return ok && !n.alias
}

// isIndex reports whether a segment looks like the index of an array element.
func isIndex(segment string) bool {
	n, err := strconv.Atoi(segment)
	return err == nil && n >= 0 || segment == "-"
}

// maxAll bounds how many pointers All yields: schemas that share their parts can
// spell more of them than any list holds.
const maxAll = 10_000

// All yields every place below the root with its expanded pointer, parents
// before children, members in source order. A place that contains itself is
// followed once on each way to it. It stops after 10,000 places.
func (s *Schema) All() iter.Seq2[jsonstream.Pointer, *Place] {
	return func(yield func(jsonstream.Pointer, *Place) bool) {
		left := maxAll
		var pointer jsonstream.Pointer
		var above []*Place
		var visit func(p *Place) bool
		below := func(segment string, p *Place) bool {
			if left--; left < 0 {
				return false
			}
			pointer = append(pointer, segment)
			ok := yield(slices.Clone(pointer), p) && (slices.Contains(above, p) || visit(p))
			pointer = pointer[:len(pointer)-1]
			return ok
		}
		visit = func(p *Place) bool {
			above = append(above, p)
			defer func() { above = above[:len(above)-1] }()
			for _, d := range p.declared {
				if !below(d.Name, d.Place) {
					return false
				}
			}
			return p.items == anything || p.Vector() || below("*", p.items)
		}
		visit(s.Place())
	}
}
