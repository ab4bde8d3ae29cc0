package literal

// Paths holds paths: canonical texts whose components are separated by "/".
type Paths struct{ part *part }

// NewPaths returns a set of paths; an entry that is a prefix stands for the path and for
// everything below it.
func NewPaths(entries []Entry) *Paths { return &Paths{newPart(entries)} }

// Len returns the number of entries.
func (t *Paths) Len() int { return len(t.part.entries) }

// Find appends the members of whom an entry is the path or a directory above it, in no
// order; a member with several such entries is repeated.
func (t *Paths) Find(path []byte, members []int32) []int32 {
	if len(t.part.entries) == 0 {
		return members
	}
	for node, read := int32(0), 0; ; {
		n := &t.part.nodes[node]
		rest := n.text[read:n.depth]
		if len(path)-read < len(rest) || string(path[read:read+len(rest)]) != rest {
			return members
		}
		switch read += len(rest); {
		case read == len(path):
			for i := n.lo; i < n.whole; i++ {
				members = append(members, t.part.entries[i].Member)
			}
			return members
		case path[read] == '/' && read > 0, read == 1 && path[0] == '/':
			members = t.part.above(n, members)
		}
		if node = t.part.child(node, path[read]); node == 0 {
			return members
		}
		read++
	}
}

// above appends the members that name a directory, where a node ends, and everything
// below it.
func (t *part) above(n *node, members []int32) []int32 {
	for i := n.lo; i < n.prefixes; i++ {
		members = append(members, t.entries[i].Member)
	}
	return members
}
