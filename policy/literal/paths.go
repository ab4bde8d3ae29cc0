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
	var at place
	for i, c := range path {
		if c == '/' && i > 0 {
			members = t.part.above(at, members)
		}
		if at = t.part.step(at, c); at.node < 0 {
			return members
		}
		if c == '/' && i == 0 && len(path) > 1 {
			members = t.part.above(at, members)
		}
	}
	if n := t.part.complete(at); n != nil {
		for i := n.lo; i < n.whole; i++ {
			members = append(members, t.part.entries[i].Member)
		}
	}
	return members
}

// above appends the members that name a directory and everything below it.
func (t *part) above(at place, members []int32) []int32 {
	if n := t.complete(at); n != nil {
		for i := n.lo; i < n.prefixes; i++ {
			members = append(members, t.entries[i].Member)
		}
	}
	return members
}
