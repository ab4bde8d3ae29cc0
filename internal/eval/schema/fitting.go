package schema

import "slices"

// Fitting is what the parameters of a table for many tools mean for one of them:
// those that the tool has, with a type in common, and those that a tool whose schema names no
// parameters may have. The others are left out, as the rules of such a table are (D25-47), and
// nothing is closed or required by it.
// Base is the tool's own schema, nil if it is unknown. The result is nil if
// nothing is left.
func Fitting(base, file *Schema) *Schema {
	if file == nil || file.Root == nil {
		return nil
	}
	// What the tool does not declare stays undeclared (K24); nobody knows what a tool
	// without a schema declares.
	root := &Node{Types: Object, HasProperties: true}
	if base == nil || base.Place().Member([]byte("\x00")).Kind == FreeForm {
		root.Additional = AdditionalAllowed
	}
	declared := file.Place().Properties()
	for _, p := range file.Root.Properties {
		if base == nil || base.fits(&declared[file.Place().Member([]byte(p.Name)).Property]) {
			root.Properties = append(root.Properties, p)
		}
	}
	if len(root.Properties) == 0 {
		return nil
	}
	s, err := build(root, file.Source)
	if err != nil {
		return nil // cannot be: every property was built before
	}
	return s
}

// fits reports whether a parameter of a file can be laid over the schema.
func (s *Schema) fits(d *Declared) bool {
	base := s.Place()
	m := base.Member([]byte(d.Name))
	if m.Kind != DeclaredName && m.Kind != FreeForm || slices.ContainsFunc(d.Aliases, base.declares) {
		return false
	}
	o := overlay{compared: map[[2]*Place]bool{}}
	return o.compare(m.Place, d.Place, nil) == nil
}
