package wire

import (
	"slices"

	"github.com/stopgate/stopgate/jsonstream"
)

// Edits collects what a codec changes in one text: everything that is not named
// stays byte for byte (L2). They may be added in any order, but not inside of
// what another one removes.
type Edits []jsonstream.Edit

// Remove takes out the members of an object, or the elements of an array, for
// which remove answers true, and the commas that would be left over.
func (e *Edits) Remove(from jsonstream.Value, remove func(key, value jsonstream.Value) bool) {
	*e = from.AppendRemovals(*e, remove)
}

// Replace puts other bytes in the place of a value.
func (e *Edits) Replace(v jsonstream.Value, text []byte) {
	from, to := v.Span()
	*e = append(*e, jsonstream.Edit{Start: from, End: to, Text: text})
}

// Quote puts a text in the place of a value. A string that says it in our spelling
// stays where it is.
func (e *Edits) Quote(v jsonstream.Value, text []byte) {
	if !jsonstream.IsQuote(v.Raw(), text) {
		e.Replace(v, jsonstream.AppendQuote(nil, text))
	}
}

// Insert puts bytes in front of src[at].
func (e *Edits) Insert(at int, text []byte) {
	*e = append(*e, jsonstream.Edit{Start: at, End: at, Text: text})
}

// AppendTo appends src[from:to] with the edits, whose positions are those of
// src. Edits that contradict each other are a mistake of the codec: nothing is
// appended then.
func (e Edits) AppendTo(dst, src []byte, from, to int) []byte {
	slices.SortStableFunc(e, func(a, b jsonstream.Edit) int { return a.Start - b.Start })
	for i := range e {
		e[i].Start -= from
		e[i].End -= from
	}
	dst, _ = jsonstream.Splice(dst, src[from:to], e)
	return dst
}

// Through is AppendTo for the whole of src, which hands over what is long.
func (e Edits) Through(dst, src []byte, spill Spill) ([]byte, error) {
	slices.SortStableFunc(e, func(a, b jsonstream.Edit) int { return a.Start - b.Start })
	from := 0
	for _, edit := range e {
		if edit.Start < from || edit.End < edit.Start || edit.End > len(src) {
			return dst, nil
		}
		from = edit.End
	}
	from = 0
	var err error
	for _, edit := range e {
		if dst, err = spill.Through(append(dst, src[from:edit.Start]...), edit.Text); err != nil {
			return dst, err
		}
		from = edit.End
	}
	return append(dst, src[from:]...), nil
}

// Within is the text of a value with the edits, all of which are inside of it.
func (e Edits) Within(v jsonstream.Value) []byte {
	from, _ := v.Span()
	raw := v.Raw()
	for i := range e {
		e[i].Start -= from
		e[i].End -= from
	}
	return e.AppendTo(nil, raw, 0, len(raw))
}
