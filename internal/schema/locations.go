package schema

import (
	"encoding/binary"
	"slices"
)

// builder computes the locations of a schema: the subset construction over its nodes. Each location
// is the set of nodes that apply to it.
type builder struct {
	nodes    []*Node
	number   map[*Node]int
	types    map[*Node]Type // results of nodeTypes
	interned map[string]*Location
	queue    []pending
	members  int  // work done, limited by maxMembers
	aliases  bool // some property has an alias
}

// seed is a node that applies to a location. A sure one applies in every branch.
type seed struct {
	node *Node
	sure bool
}

type pending struct {
	location *Location
	seeds    []seed
}

// locations computes all locations from the root on.
func (b *builder) locations(root *Node) (*Location, *ParseError) {
	start := b.location([]seed{{root, true}}, false)
	for len(b.queue) > 0 {
		next := b.queue[0]
		b.queue = b.queue[1:]
		b.fill(next.location, next.seeds)
		if len(b.interned) > maxLocations || b.members > maxMembers {
			return nil, &ParseError{Pointer: root.at.pointer(), Message: "the combinations of the schema are too many to follow"}
		}
	}
	return start, nil
}

// location returns the location where the seeds apply; unknown is set if a node above hides
// structure. Equal sets have the same location. No node is among the seeds twice: each has one
// parent.
func (b *builder) location(seeds []seed, unknown bool) *Location {
	if len(seeds) == 0 {
		return anything
	}
	sorted := slices.SortedFunc(slices.Values(seeds), func(x, y seed) int { return b.number[x.node] - b.number[y.node] })
	key := make([]byte, 0, 16)
	for _, s := range sorted {
		key = binary.AppendUvarint(key, uint64(b.number[s.node])<<1|bit(s.sure))
	}
	key = binary.AppendUvarint(key, bit(unknown))
	if p, ok := b.interned[string(key)]; ok {
		return p
	}
	p := &Location{unknown: unknown}
	b.interned[string(key)] = p
	b.queue = append(b.queue, pending{p, seeds})
	return p
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// closure adds to the seeds all nodes that apply with them, each after the one that refers to it.
func closure(seeds []seed) []seed {
	var all []seed
	at := map[*Node]int{}
	var add func(n *Node, sure bool)
	add = func(n *Node, sure bool) {
		if i, seen := at[n]; seen {
			if all[i].sure || !sure {
				return
			}
			all[i].sure = true // the nodes it refers to are sure now too
		} else {
			at[n] = len(all)
			all = append(all, seed{n, sure})
		}
		if n.Ref != nil {
			add(n.Ref, sure)
		}
		for _, one := range n.AllOf {
			add(one, sure)
		}
		for _, list := range [][]*Node{n.AnyOf, n.OneOf} {
			for _, one := range list {
				add(one, sure && len(list) == 1)
			}
		}
	}
	for _, s := range seeds {
		add(s.node, s.sure)
	}
	return all
}

// fill computes a location from the nodes that apply to it.
func (b *builder) fill(p *Location, seeds []seed) {
	all := closure(seeds)
	p.types = b.seedTypes(seeds)
	for _, s := range all {
		n := s.node
		p.annotations |= 1 << n.Annotation
		p.annotation = max(p.annotation, n.Annotation)
		p.as = p.as.with(n.As)
		p.expands = p.expands || n.Expands
		p.unknown = p.unknown || n.Open
		p.tabled = p.tabled || n.Declared
		p.complete = p.complete || n.Declared && n.Types == AnyType && len(n.siblings())+len(n.below()) == 0
		if n.Default.IsValid() {
			p.defaults = append(p.defaults, n.Default)
		}
	}
	b.fillMembers(p, all)
	b.fillItems(p, all)
}

// seedTypes returns the types that a value may have where the seeds apply: those that all sure
// seeds allow, or without a sure one those that any allows.
func (b *builder) seedTypes(seeds []seed) Type {
	every, either, sure := AnyType, Type(0), false
	for _, s := range seeds {
		t := b.nodeTypes(s.node)
		either = either.Union(t)
		if s.sure {
			every, sure = every.Intersect(t), true
		}
	}
	if sure {
		return every
	}
	return either
}

// nodeTypes returns the types that a node and its siblings allow.
func (b *builder) nodeTypes(n *Node) Type {
	if t, ok := b.types[n]; ok {
		return t
	}
	t := n.Types
	if n.HasEnum {
		listed := Type(0)
		for _, v := range n.Enum {
			listed = listed.Union(typeOf(v))
		}
		t = t.Intersect(listed)
	}
	if n.Const.IsValid() {
		t = t.Intersect(typeOf(n.Const))
	}
	if n.Ref != nil {
		t = t.Intersect(b.nodeTypes(n.Ref))
	}
	for _, one := range n.AllOf {
		t = t.Intersect(b.nodeTypes(one))
	}
	for _, list := range [][]*Node{n.AnyOf, n.OneOf} {
		if len(list) == 0 {
			continue
		}
		branches := Type(0)
		for _, one := range list {
			branches = branches.Union(b.nodeTypes(one))
		}
		t = t.Intersect(branches)
	}
	if n.Nullable {
		t |= Null
	}
	b.types[n] = t
	return t
}

// fillMembers computes the declared members of the object at p and the kind of all other keys.
func (b *builder) fillMembers(p *Location, all []seed) {
	var names []string
	at := map[string]int{}
	required := map[string]bool{}
	describes, free, forbidden := false, false, false
	for _, s := range all {
		n := s.node
		describes = describes || n.HasProperties
		free = free || n.Additional == AdditionalAllowed || n.Additional == AdditionalBySchema
		forbidden = forbidden || s.sure && n.Additional == AdditionalForbidden
		for _, property := range n.Properties {
			if _, seen := at[property.Name]; !seen {
				at[property.Name] = len(names)
				names = append(names, property.Name)
			}
		}
		if s.sure {
			for _, name := range n.Required {
				required[name] = true
			}
		}
		for _, pattern := range n.PatternProperties {
			p.patterns = append(p.patterns, pattern.Pattern)
		}
	}
	switch {
	case forbidden:
		p.otherKind = Forbidden
	case free || !describes:
		p.otherKind = FreeForm
	}
	var others []seed
	for _, s := range all {
		if s.node.AdditionalSchema != nil {
			others = append(others, seed{s.node.AdditionalSchema, s.sure})
		}
	}
	p.other = b.location(others, p.unknown)

	b.members += (len(names) + 1) * len(all)
	p.declared = make([]Declared, len(names))
	for i, name := range names {
		d := Declared{Name: name, Required: required[name]}
		var seeds []seed
		for _, s := range all {
			if j, ok := s.node.index[name]; ok {
				seeds = append(seeds, seed{s.node.Properties[j].Node, s.sure})
				for _, alias := range s.node.Properties[j].Aliases {
					if !slices.Contains(d.Aliases, alias) {
						d.Aliases = append(d.Aliases, alias)
					}
				}
			} else if s.node.AdditionalSchema != nil {
				seeds = append(seeds, seed{s.node.AdditionalSchema, s.sure})
			}
		}
		b.aliases = b.aliases || len(d.Aliases) > 0
		d.Location = b.location(seeds, p.unknown)
		p.declared[i] = d
	}
	p.indexNames()
}

// fillItems computes the locations of the elements of an array at p.
func (b *builder) fillItems(p *Location, all []seed) {
	longest := 0
	var every []seed
	for _, s := range all {
		longest = max(longest, len(s.node.PrefixItems))
		for _, one := range s.node.PrefixItems {
			every = append(every, seed{one, false})
		}
		if s.node.Items != nil {
			every = append(every, seed{s.node.Items, s.sure && len(s.node.PrefixItems) == 0})
		}
	}
	b.members += (longest + 1) * len(all)
	p.items = b.location(every, p.unknown)
	for i := range longest + 1 {
		var seeds []seed
		for _, s := range all {
			if i < len(s.node.PrefixItems) {
				seeds = append(seeds, seed{s.node.PrefixItems[i], s.sure})
			} else if s.node.Items != nil {
				seeds = append(seeds, seed{s.node.Items, s.sure})
			}
		}
		p.prefix = append(p.prefix, b.location(seeds, p.unknown))
	}
}
