package provider

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate/jsonstream"
)

// Edits collects the changes of a codec to one text. Bytes outside of the edits stay as
// they are (L2). Edits can be added in any order, but not inside a range that another edit
// removes.
type Edits []jsonstream.Edit

// Remove deletes the members of an object, or the elements of an array, for which remove
// returns true, together with their commas.
func (e *Edits) Remove(from jsonstream.Value, remove func(key, value jsonstream.Value) bool) {
	*e = from.AppendRemovals(*e, remove)
}

// Replace replaces the bytes of a value.
func (e *Edits) Replace(v jsonstream.Value, text []byte) {
	from, to := v.Span()
	*e = append(*e, jsonstream.Edit{Start: from, End: to, Text: text})
}

// ReplaceText replaces a value by a string with the given text. A string that already has
// this text in the encoding of [jsonstream.AppendQuote] stays unchanged.
func (e *Edits) ReplaceText(v jsonstream.Value, text []byte) {
	if !jsonstream.IsQuote(v.Raw(), text) {
		e.Replace(v, jsonstream.AppendQuote(nil, text))
	}
}

// Insert inserts bytes before src[at].
func (e *Edits) Insert(at int, text []byte) {
	*e = append(*e, jsonstream.Edit{Start: at, End: at, Text: text})
}

// AppendTo applies the edits to src[from:to] and appends the result to dst. The positions
// of the edits are those of src. If edits overlap, which is a bug of the codec, AppendTo
// returns dst unchanged.
func (e Edits) AppendTo(dst, src []byte, from, to int) []byte {
	slices.SortStableFunc(e, func(a, b jsonstream.Edit) int { return a.Start - b.Start })
	for i := range e {
		e[i].Start -= from
		e[i].End -= from
	}
	dst, _ = jsonstream.Splice(dst, src[from:to], e)
	return dst
}

// AppendBody is like AppendTo for the whole of a body. If dst is empty and the edits change nothing, it
// returns the body itself.
func (e Edits) AppendBody(dst, body []byte) []byte {
	changes := func(edit jsonstream.Edit) bool {
		return edit.End < edit.Start || edit.End > len(body) || !bytes.Equal(body[edit.Start:edit.End], edit.Text)
	}
	if len(dst) == 0 && !slices.ContainsFunc(e, changes) {
		return body
	}
	return e.AppendTo(dst, body, 0, len(body))
}

// AppendFlushing is like AppendTo for the whole of src, and flushes long replacements.
func (e Edits) AppendFlushing(dst, src []byte, flush Flush) ([]byte, error) {
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
		if dst, err = flush.Write(append(dst, src[from:edit.Start]...), edit.Text); err != nil {
			return dst, err
		}
		from = edit.End
	}
	return append(dst, src[from:]...), nil
}

// ApplyTo returns the text of a value with the edits applied, all of which are inside the
// value.
func (e Edits) ApplyTo(v jsonstream.Value) []byte {
	from, _ := v.Span()
	raw := v.Raw()
	for i := range e {
		e[i].Start -= from
		e[i].End -= from
	}
	return e.AppendTo(nil, raw, 0, len(raw))
}
