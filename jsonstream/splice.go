package jsonstream

import (
	"fmt"
	"slices"
)

// Edit replaces the bytes from Start to End of a text by Text. It inserts if Start is End,
// and removes if Text is empty.
type Edit struct {
	Start, End int
	Text       []byte
}

// Splice applies the edits to text and appends the result to dst. The edits must be in
// order, inside the text, and without overlaps; otherwise Splice returns dst and an error.
func Splice(dst, text []byte, edits []Edit) ([]byte, error) {
	begin, from := len(dst), 0
	size := len(text)
	for _, e := range edits {
		size += len(e.Text) - (e.End - e.Start)
	}
	dst = slices.Grow(dst, max(size, 0)) // invalid edits, which are refused below, may have any size
	for i, e := range edits {
		if e.Start < from || e.End < e.Start || e.End > len(text) {
			return dst[:begin], fmt.Errorf("splice: edit %d of bytes %d to %d is out of order in a text of %d bytes", i, e.Start, e.End, len(text))
		}
		dst = append(append(dst, text[from:e.Start]...), e.Text...)
		from = e.End
	}
	return append(dst, text[from:]...), nil
}

// AppendRemovals appends the edits that remove the members of an object, or the elements of
// an array, for which remove returns true, each with its comma. For an element, key is the
// zero Value.
func (v Value) AppendRemovals(dst []Edit, remove func(key, value Value) bool) []Edit {
	// A run of removed members is removed from the start of its first member to the start
	// of the next one that stays; a run at the end from the end of the last one that stays.
	keptEnd, runStart, runEnd := -1, -1, -1
	visit := func(start, end int, removed bool) {
		switch {
		case removed && runStart < 0:
			runStart, runEnd = start, end
		case removed:
			runEnd = end
		default:
			if runStart >= 0 {
				dst = append(dst, Edit{Start: runStart, End: start})
			}
			keptEnd, runStart = end, -1
		}
	}
	for key, value := range v.Members() {
		start, _ := key.Span()
		_, end := value.Span()
		visit(start, end, remove(key, value))
	}
	for element := range v.Elements() {
		start, end := element.Span()
		visit(start, end, remove(Value{}, element))
	}
	if runStart < 0 {
		return dst
	}
	if keptEnd >= 0 {
		runStart = keptEnd
	}
	return append(dst, Edit{Start: runStart, End: runEnd})
}
