package schema

import "slices"

// Marked returns a copy of a schema in which every value counts as declared by a parameter table,
// or none: see [Location.Tabled]. Targets of `$ref` keep their mark.
func Marked(s *Schema, declared bool) *Schema {
	if s == nil || s.Root == nil {
		return s
	}
	marked, err := build(mark(s.Root, declared), s.Source)
	if err != nil {
		return s // unreachable: it was built before
	}
	marked.text, marked.base, marked.file = s.text, s.base, s.file
	return marked
}

// mark copies the tree of a node. Every node has one parent.
func mark(n *Node, declared bool) *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Declared = declared
	c.Items, c.AdditionalSchema = mark(n.Items, declared), mark(n.AdditionalSchema, declared)
	c.Properties = slices.Clone(n.Properties)
	for i := range c.Properties {
		c.Properties[i].Node = mark(c.Properties[i].Node, declared)
	}
	for _, list := range []*[]*Node{&c.PrefixItems, &c.AllOf, &c.AnyOf, &c.OneOf} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i] = mark((*list)[i], declared)
		}
	}
	return &c
}
