package schema

import "slices"

// OverlayError is a parameter of a policy file that contradicts the schema of a request or server:
// policy_invalid_for_schema (K25).
type OverlayError struct {
	// Pointer is the parameter, with "*" for the elements of an array.
	Pointer string
	Message string
}

// Error returns the parameter and the contradiction.
func (e *OverlayError) Error() string { return e.Pointer + ": " + e.Message }

// Overlay combines the parameters of a policy file with the schema of a request or server: both
// apply. The file may annotate, add aliases, require and tighten; its parameters must exist in base
// with a type in common. One thing it does not tighten: if base allows null, null stays allowed,
// because models write it for an absent value. An object that base leaves open and whose members
// the file names is closed (K24). If base is nil, which is unknown, the result is file; if file is
// nil, it is base. The error is an *OverlayError.
func Overlay(base, file *Schema) (*Schema, error) {
	if base == nil {
		return file, nil
	}
	if file == nil {
		return base, nil
	}
	if base.Root == nil || file.Root == nil {
		return nil, &OverlayError{Message: "there is no schema"}
	}
	o := overlay{compared: map[[2]*Location]bool{}}
	if err := o.compare(base.Location(), file.Location(), nil); err != nil {
		return nil, err
	}
	s, err := build(&Node{Types: Object, AllOf: []*Node{base.Root, withNull(file.Root, base.Location())}}, Overlaid)
	if err != nil {
		return nil, &OverlayError{Pointer: err.Pointer, Message: err.Message}
	}
	s.base, s.file = base, file
	return s, nil
}

// withNull copies the declarations of a file and allows null where base does. They are a tree: a
// file has no references.
func withNull(n *Node, base *Location) *Node {
	c := *n
	c.Nullable = n.Nullable || base.types&Null != 0 && base != anything
	c.Properties = slices.Clone(n.Properties)
	for i, p := range c.Properties {
		c.Properties[i].Node = withNull(p.Node, base.Member([]byte(p.Name)).Location)
	}
	if n.Items != nil {
		c.Items = withNull(n.Items, base.items)
	}
	if n.AdditionalSchema != nil {
		c.AdditionalSchema = withNull(n.AdditionalSchema, base.other)
	}
	return &c
}

// overlay walks both schemas together.
type overlay struct {
	compared map[[2]*Location]bool
}

// compare searches for contradictions between file and base at a location.
func (o *overlay) compare(base, file *Location, at *trail) error {
	if file == anything || o.compared[[2]*Location{base, file}] {
		return nil
	}
	o.compared[[2]*Location{base, file}] = true
	if base.types.Intersect(file.types) == 0 {
		return &OverlayError{Pointer: at.pointer(), Message: "is " + file.types.describe() + " in the policy and " + base.types.describe() + " in the tool's schema"}
	}
	for _, d := range file.declared {
		m := base.Member([]byte(d.Name))
		here := at.below(d.Name)
		switch {
		case m.Kind == DeclaredName || m.Kind == FreeForm:
		case base.unknown && m.Kind != Forbidden:
			m.Location = anything
		default:
			return &OverlayError{Pointer: here.pointer(), Message: "is not a parameter of the tool's schema"}
		}
		for _, alias := range d.Aliases {
			if base.declares(alias) {
				return &OverlayError{Pointer: here.pointer(), Message: "has the alias " + quoted(alias) + ", which is another parameter of the tool's schema"}
			}
		}
		if err := o.compare(m.Location, d.Location, here); err != nil {
			return err
		}
	}
	if err := o.compare(base.items, file.items, at.below("*")); err != nil {
		return err
	}
	return o.compare(base.other, file.other, at.below("*"))
}
