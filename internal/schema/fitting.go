package schema

import "slices"

// Fitting returns the parameters of a table for many tools that apply to one of them: those that
// the tool has, with a type in common, and those that a tool whose schema names no parameters may
// have. The others are omitted, as are the rules of such a table (D25-47), and nothing becomes
// closed or required. Base is the tool's own schema, nil if it is unknown. The result is nil if no
// parameter applies.
func Fitting(base, file *Schema) *Schema {
	if file == nil || file.Root == nil {
		return nil
	}
	// Parameters that the tool does not declare stay undeclared (K24); those of a tool without a
	// schema are unknown.
	root := &Node{Types: Object, HasProperties: true}
	if base == nil || base.Location().Member([]byte("\x00")).Kind == FreeForm {
		root.Additional = AdditionalAllowed
	}
	if base != nil {
		if pruned, err := build(fitted(file.Root, base.Location(), true), file.Source); err == nil {
			file = pruned
		}
	}
	declared := file.Location().Properties()
	for _, p := range file.Root.Properties {
		if base == nil || base.fits(&declared[file.Location().Member([]byte(p.Name)).Property]) {
			root.Properties = append(root.Properties, p)
		}
	}
	if len(root.Properties) == 0 {
		return nil
	}
	s, err := build(root, file.Source)
	if err != nil {
		return nil // unreachable: every property was built before
	}
	return s
}

// fitted returns the declarations below the parameters of a file without the members that the tool's schema
// does not have.
func fitted(n *Node, base *Location, root bool) *Node {
	c := *n
	c.Properties, c.index = nil, nil // build prepares the copy
	for _, p := range n.Properties {
		m := base.Member([]byte(p.Name))
		switch {
		case m.Kind == DeclaredName || m.Kind == FreeForm:
			p.Node = fitted(p.Node, m.Location, false)
		case !root && (!base.unknown || m.Kind == Forbidden):
			c.Required = slices.DeleteFunc(slices.Clone(c.Required), func(name string) bool { return name == p.Name })
			continue
		}
		c.Properties = append(c.Properties, p)
	}
	if n.Items != nil && base.items != nil {
		c.Items = fitted(n.Items, base.items, false)
	}
	return &c
}

// fits reports whether a parameter of a file is compatible with the schema.
func (s *Schema) fits(d *Declared) bool {
	base := s.Location()
	m := base.Member([]byte(d.Name))
	if m.Kind != DeclaredName && m.Kind != FreeForm || slices.ContainsFunc(d.Aliases, base.declares) {
		return false
	}
	o := overlay{compared: map[[2]*Location]bool{}}
	return o.compare(m.Location, d.Location, nil) == nil
}
