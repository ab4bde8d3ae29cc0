package schema

import (
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
)

// object validates the members of an object: required ones first, then each in declaration order,
// then undeclared ones (K14).
func (c *Validator) object(n *Node, p *Location, v jsonstream.Value) bool {
	base := len(c.members)
	for range n.Properties {
		c.members = append(c.members, jsonstream.Value{})
	}
	fits := c.objectMembers(n, p, v, base)
	c.members = c.members[:base]
	return fits
}

func (c *Validator) objectMembers(n *Node, p *Location, v jsonstream.Value, base int) bool {
	others := 0
	for key, value := range v.Members() {
		i, declared := n.property(c.name(p, key))
		if !declared {
			others++
			continue
		}
		if c.members[base+i].IsValid() {
			return c.explain("aliases", func() string { return strconv.Quote(n.Properties[i].Name) + " is given twice under two of its names" })
		}
		c.members[base+i] = value
	}
	present := func(name string) bool {
		if i, declared := n.index[name]; declared {
			return c.members[base+i].IsValid()
		}
		if !c.spend(v.Len()) {
			return false
		}
		for key := range v.Members() {
			if string(c.name(p, key)) == name {
				return true
			}
		}
		return false
	}
	if !c.counts(n, v, present) {
		return false
	}
	for i := range n.Properties {
		if value := c.members[base+i]; value.IsValid() && !c.enter(n.Properties[i].Node, c.locationOf(p, n.Properties[i].Name), value) {
			return false
		}
	}
	if others > 0 || len(n.PatternProperties) > 0 || n.PropertyNames != nil {
		if !c.others(n, p, v) {
			return false
		}
	}
	for _, d := range n.DependentSchemas {
		if present(d.Name) && !c.check(d.Node, p, v) {
			return false
		}
	}
	return true
}

// counts checks which members are present, not their values.
func (c *Validator) counts(n *Node, v jsonstream.Value, present func(string) bool) bool {
	if !c.spend(len(n.Required)) {
		return false
	}
	for _, name := range n.Required {
		if !present(name) {
			return c.explain("required", func() string { return "lacks " + strconv.Quote(name) })
		}
	}
	if n.MinProperties != nil && v.Len() < *n.MinProperties {
		return c.explain("minProperties", func() string { return "must have at least " + strconv.Itoa(*n.MinProperties) + " members" })
	}
	if n.MaxProperties != nil && v.Len() > *n.MaxProperties {
		return c.explain("maxProperties", func() string { return "must have at most " + strconv.Itoa(*n.MaxProperties) + " members" })
	}
	for _, d := range n.DependentRequired {
		if !present(d.Name) || !c.spend(len(d.Required)) {
			continue
		}
		for _, name := range d.Required {
			if !present(name) {
				return c.explain("dependentRequired", func() string { return "lacks " + strconv.Quote(name) + ", which " + strconv.Quote(d.Name) + " needs" })
			}
		}
	}
	return true
}

// name returns the text of a key; for an alias the declared name.
func (c *Validator) name(p *Location, key jsonstream.Value) []byte {
	text, plain := key.TextBytes()
	if !plain {
		c.scratch = key.AppendText(c.scratch[:0])
		text = c.scratch
	}
	if c.aliases {
		if n, ok := p.names[string(text)]; ok && n.alias {
			c.scratch = append(c.scratch[:0], p.declared[n.index].Name...)
			return c.scratch
		}
	}
	return text
}

// locationOf returns the location of a declared member. Only schemas with aliases need it.
func (c *Validator) locationOf(p *Location, name string) *Location {
	if !c.aliases {
		return anything
	}
	if n, ok := p.names[name]; ok {
		return p.declared[n.index].Location
	}
	return p.other
}

// others validates the names of all members, and the members that match patterns or are undeclared.
// It records the violation with the smallest key, so that it does not depend on their order in the
// text.
func (c *Validator) others(n *Node, p *Location, v jsonstream.Value) bool {
	var worst, worstKey jsonstream.Value
	c.trying++
	for key, value := range v.Members() {
		if c.other(n, p, key, value) {
			continue
		}
		if c.trying > 1 {
			c.trying--
			return false
		}
		if !worst.IsValid() || key.Text() < worstKey.Text() {
			worst, worstKey = value, key
		}
	}
	c.trying--
	return !worst.IsValid() || c.other(n, p, worstKey, worst)
}

func (c *Validator) other(n *Node, p *Location, key, value jsonstream.Value) bool {
	c.path = append(c.path, value)
	fits := c.otherMember(n, p, key, value)
	c.path = c.path[:len(c.path)-1]
	return fits
}

func (c *Validator) otherMember(n *Node, p *Location, key, value jsonstream.Value) bool {
	if n.PropertyNames != nil && !c.try(n.PropertyNames, anything, key) {
		return c.fail("propertyNames", "has a name that is not allowed")
	}
	name := c.name(p, key)
	_, known := n.index[string(name)]
	loc := anything
	if c.aliases {
		loc = p.Member(name).Location
	}
	// Validating a value overwrites the buffer with the name.
	matches := func(pattern PatternProperty) bool {
		name := c.name(p, key)
		return c.spend(len(name)*(pattern.Pattern.Size()/16+1)) && pattern.Pattern.Match(name)
	}
	for _, pattern := range n.PatternProperties {
		if !matches(pattern) {
			continue
		}
		known = true
		if !c.check(pattern.Node, loc, value) {
			return false
		}
	}
	switch {
	case known:
	case n.Additional == AdditionalForbidden:
		return c.fail("additionalProperties", "is not a parameter")
	case n.Additional == AdditionalBySchema:
		return c.check(n.AdditionalSchema, loc, value)
	}
	return true
}
