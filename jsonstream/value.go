package jsonstream

import "iter"

// Value is a value, or a key, of a [Document]. The zero Value is invalid: its kind is
// Invalid, and its methods return zero values. A Value is valid until its document is
// filled or reset.
type Value struct {
	doc *Document
	at  uint32
}

func (v Value) node() *node { return &v.doc.nodes[v.at] }

// IsValid reports whether v is a value.
func (v Value) IsValid() bool { return v.doc != nil }

// Kind returns Object, Array, String, Number, True, False or Null, and Invalid
// for the zero Value. A key is a String.
func (v Value) Kind() Kind {
	if v.doc == nil {
		return Invalid
	}
	return Kind(v.node().info & infoKind)
}

// Span returns the position of the value in the text of its document, with the quotes of a
// string.
func (v Value) Span() (start, end int) {
	if v.doc == nil {
		return 0, 0
	}
	n := v.node()
	return int(n.start), int(n.end)
}

// Raw returns the value as it is written. It shares the document's text.
func (v Value) Raw() []byte {
	if v.doc == nil {
		return nil
	}
	n := v.node()
	return v.doc.text[n.start:n.end:n.end]
}

// Len returns the number of members of an object or elements of an array.
func (v Value) Len() int {
	if k := v.Kind(); k != Object && k != Array {
		return 0
	}
	return int(v.node().info / infoOne)
}

// TextBytes returns the text of a string without decoding it, if it contains no
// escape. It shares the document's text.
func (v Value) TextBytes() (text []byte, ok bool) {
	if v.Kind() != String || v.node().info&infoEscaped != 0 {
		return nil, false
	}
	n := v.node()
	return v.doc.text[n.start+1 : n.end-1 : n.end-1], true
}

// AppendText appends the decoded text of a string; other values have none.
func (v Value) AppendText(dst []byte) []byte {
	if text, ok := v.TextBytes(); ok {
		return append(dst, text...)
	}
	if v.Kind() != String {
		return dst
	}
	raw := v.Raw()
	return appendUnescaped(dst, raw[1:len(raw)-1])
}

// TextParts returns the decoded text of a string in parts of approximately the size of buf,
// which they share; other values have none. A part may end inside a character.
func (v Value) TextParts(buf []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if text, ok := v.TextBytes(); ok {
			yield(text)
			return
		}
		if v.Kind() != String {
			return
		}
		raw, enough := v.Raw(), max(cap(buf)-8, 64)
		for inside, n := raw[1:len(raw)-1], 0; len(inside) > 0; inside = inside[n:] {
			buf, n = appendUnescapedPart(buf[:0], inside, enough)
			if !yield(buf) {
				return
			}
		}
	}
}

// Text returns the decoded text of a string, "" for any other value.
func (v Value) Text() string {
	if text, ok := v.TextBytes(); ok {
		return string(text)
	}
	return string(v.AppendText(nil))
}

// IsText reports whether v is a string with this decoded text.
func (v Value) IsText(s string) bool {
	if text, ok := v.TextBytes(); ok {
		return string(text) == s
	}
	if v.Kind() != String {
		return false
	}
	// An escape is never shorter than the character that it encodes.
	if n := v.node(); int(n.end-n.start)-2 < len(s) {
		return false
	}
	raw := v.Raw()
	return equalUnescaped(raw[1:len(raw)-1], s)
}

// Decimal returns the value of a number.
func (v Value) Decimal() (d Decimal, ok bool) {
	if v.Kind() != Number {
		return Decimal{}, false
	}
	d, err := ParseDecimal(v.Raw())
	return d, err == nil
}

// Get returns the value of an object's member. Keys are compared exactly and
// after unescaping.
func (v Value) Get(key string) (Value, bool) {
	_, value, ok := v.member(key)
	return value, ok
}

// MemberSpan returns the position of an object's member in the text, from the first quote
// of its key to the end of its value.
func (v Value) MemberSpan(key string) (start, end int, ok bool) {
	k, value, ok := v.member(key)
	if !ok {
		return 0, 0, false
	}
	start, _ = k.Span()
	_, end = value.Span()
	return start, end, true
}

func (v Value) member(key string) (k, value Value, ok bool) {
	if v.Kind() != Object {
		return Value{}, Value{}, false
	}
	d := v.doc
	for i, end := v.at+1, v.node().next; i < end; i = d.nodes[i+1].next {
		n := &d.nodes[i]
		k = Value{d, i}
		if n.info&infoEscaped == 0 {
			if string(d.text[n.start+1:n.end-1]) != key {
				continue
			}
		} else if !k.IsText(key) {
			continue
		}
		return k, Value{d, i + 1}, true
	}
	return Value{}, Value{}, false
}

// Members returns the keys and values of an object in the order of the text.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(key, value Value) bool) {
		if v.Kind() != Object {
			return
		}
		d := v.doc
		for i, end := v.at+1, v.node().next; i < end; i = d.nodes[i+1].next {
			if !yield(Value{d, i}, Value{d, i + 1}) {
				return
			}
		}
	}
}

// Elements returns the elements of an array in order.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != Array {
			return
		}
		d := v.doc
		for i, end := v.at+1, v.node().next; i < end; i = d.nodes[i].next {
			if !yield(Value{d, i}) {
				return
			}
		}
	}
}

// Index returns the element of an array with this index, counted from 0. It takes linear
// time: use Elements to visit all elements.
func (v Value) Index(index int) (Value, bool) {
	if index < 0 || index >= v.Len() || v.Kind() != Array {
		return Value{}, false
	}
	i := v.at + 1
	for range index {
		i = v.doc.nodes[i].next
	}
	return Value{v.doc, i}, true
}
