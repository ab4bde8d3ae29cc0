package literal

// Paths holds paths: canonical texts whose components are separated by "/".
type Paths struct{ part *part }

// NewPaths returns a set of paths. A prefix entry matches the path and everything below it.
func NewPaths(entries []Entry) *Paths { return &Paths{newPart(entries)} }

// Len returns the number of entries.
func (t *Paths) Len() int { return len(t.part.entries) }

// Find appends the members with an entry that is the path or a directory above it, in no order. A
// member with several such entries is repeated.
func (t *Paths) Find(path []byte, members []int32) []int32 {
	part := t.part
	if len(path) == 0 {
		return part.named(&part.nodes[0], members)
	}
	// No entry ends at the root, whose text is empty.
	for node, read := int32(part.first[path[0]]), 1; node > 0; read++ {
		n := &part.nodes[node]
		if depth := int(n.depth); depth > read {
			if len(path) < depth || string(path[read:depth]) != n.text[read:depth] {
				return members
			}
			read = depth
		}
		if read == len(path) {
			return part.named(n, members)
		}
		if path[read] == '/' || read == 1 && path[0] == '/' {
			members = part.above(n, members)
		}
		node = part.child(node, path[read])
	}
	return members
}

// named appends the members with the text at which a node ends.
func (t *part) named(n *node, members []int32) []int32 {
	for i := n.lo; i < n.equal; i++ {
		members = append(members, t.entries[i].Member)
	}
	return members
}

// above appends the members with a prefix entry that ends at a node.
func (t *part) above(n *node, members []int32) []int32 {
	for i := n.lo; i < n.prefixes; i++ {
		members = append(members, t.entries[i].Member)
	}
	return members
}
