package index

import "math"

// objects are the numbers of the first texts of the objects of a record: the leaves of one object
// count as one text where values have to be from the same one.
type objects map[uint32]int

// first returns the number of the first text of a text's object, which may be its own.
func (m objects) first(e *entry, number int) int {
	if e.object == 0 {
		return number
	}
	if first, ok := m[e.object]; ok {
		return first
	}
	m[e.object] = number
	return number
}

// back is how far before a text the first one of its object is; 0 for a text of its own, and where it
// is too far.
func back(number, first int) uint16 {
	if d := number - first; d <= math.MaxUint16 {
		return uint16(d)
	}
	return 0
}
