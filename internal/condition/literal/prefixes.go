package literal

// Prefixes holds texts that others begin with. None of them is empty.
type Prefixes struct{ part *part }

// NewPrefixes returns a set of texts, one for each entry.
func NewPrefixes(entries []Entry) *Prefixes {
	for i := range entries {
		entries[i].Prefix = true
	}
	return &Prefixes{newPart(entries)}
}

// Len returns the number of entries.
func (t *Prefixes) Len() int { return len(t.part.entries) }

// Find appends the members with an entry that the text begins with, in no order.
func (t *Prefixes) Find(text []byte, members []int32) []int32 {
	part := t.part
	if len(text) == 0 {
		return members
	}
	for node, read := int32(part.first[text[0]]), 1; node > 0; read++ {
		n := &part.nodes[node]
		if depth := int(n.depth); depth > read {
			if len(text) < depth || string(text[read:depth]) != n.text[read:depth] {
				return members
			}
			read = depth
		}
		if members = part.above(n, members); read == len(text) {
			return members
		}
		node = part.child(node, text[read])
	}
	return members
}
