package index

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/literal"
)

// Hits are the members that a complete value satisfies.
type Hits struct {
	literal.Summary
	// Members are in no order. Number sets them on request only.
	Members []int32
	// Limited are the members that are satisfied only because the string is too long to be
	// examined; see [match.Matcher.Exceeds].
	Limited []int32
}

// Reset empties the hits.
func (h *Hits) Reset() {
	h.Summary, h.Members, h.Limited = literal.Empty(), h.Members[:0], h.Limited[:0]
}

// End finds the members that a complete string satisfies.
func (x *Index) End(s *State, v *condition.Value, h *Hits) {
	h.Reset()
	if x.tree != nil {
		h.Members = x.tree.End(&s.cursor, h.Members)
	}
	if len(x.rest.parts) > 0 {
		h.Members = x.rest.end(&s.rest, v.Text(), h.Members)
	}
	texts := len(h.Members)
	if !x.paths.Empty() {
		found, limited := x.paths.Find(v, h.Members)
		h.Members, h.Limited = found, append(h.Limited, limited...)
	}
	for i := range x.single {
		switch m := x.single[i].Readings[0]; {
		case !m.Judge(v):
		case x.restrictive && m.Exceeds(v):
			h.Limited = append(h.Limited, x.single[i].ID)
		default:
			h.Members = append(h.Members, x.single[i].ID)
		}
	}
	if len(h.Limited) > 0 {
		h.Limited = slices.DeleteFunc(h.Limited, func(m int32) bool { return slices.Contains(h.Members, m) })
		h.Members = append(h.Members, h.Limited...)
	}
	if len(h.Members) == 0 {
		return
	}
	if !x.restrictive && (x.tree != nil || len(x.rest.parts) > 0) && x.looksAtPaths() {
		x.agree(h, texts)
	}
	x.summarise(h)
}

// agree keeps the members that all their readings confirm: those of the first n found as plain
// text, the others as paths.
func (x *Index) agree(h *Hits, n int) {
	kept := h.Members[:0]
	for i, m := range h.Members {
		if x.readings[m] == 1 || i < n && slices.Contains(h.Members[n:], m) {
			kept = append(kept, m)
		}
	}
	h.Members = kept
}

func (x *Index) summarise(h *Hits) {
	for _, m := range h.Members {
		h.Add(m, x.classes[m])
	}
}

// Bool finds the members that a boolean satisfies.
func (x *Index) Bool(b bool, h *Hits) {
	h.Reset()
	if b {
		h.Members = append(h.Members, x.isTrue...)
	} else {
		h.Members = append(h.Members, x.isFalse...)
	}
	x.summarise(h)
}

// Number finds the members that a number, given as written, satisfies. list requests Members;
// without it thousands of ranges around the number cost as much as one.
func (x *Index) Number(literal []byte, list bool, h *Hits) {
	h.Reset()
	var d number
	if d.read(literal) {
		x.numbers.find(&d, list, h)
	}
}
