package jsonstream

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"unicode/utf8"
)

// AppendCanonical appends the canonical text of v: members sorted by the bytes
// of their keys, numbers as [Decimal.AppendCanonical] writes them, strings as
// [AppendQuote] does, no white space. Two values have the same canonical text
// exactly if they are equal in the sense of JSON Schema. Of the zero Value it
// appends nothing.
func AppendCanonical(dst []byte, v Value) []byte {
	switch v.Kind() {
	case Object:
		return appendCanonicalObject(dst, v)
	case Array:
		dst = append(dst, '[')
		comma := false
		for element := range v.Elements() {
			if comma {
				dst = append(dst, ',')
			}
			comma = true
			dst = AppendCanonical(dst, element)
		}
		return append(dst, ']')
	case String:
		return v.appendQuoted(dst)
	case Number:
		d, _ := v.Decimal()
		return d.AppendCanonical(dst)
	}
	return append(dst, v.Raw()...)
}

// HashCanonical returns the SHA-256 of the canonical text of v.
func HashCanonical(v Value) [32]byte {
	// The text is seldom longer than what was read: only numbers can grow.
	return sha256.Sum256(AppendCanonical(make([]byte, 0, len(v.Raw())+64), v))
}

func appendCanonicalObject(dst []byte, v Value) []byte {
	type member struct {
		key        []byte
		name, data Value
	}
	members := make([]member, 0, v.Len())
	for key, value := range v.Members() {
		text, ok := key.TextBytes()
		if !ok {
			text = key.AppendText(nil)
		}
		members = append(members, member{text, key, value})
	}
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(m.name.appendQuoted(dst), ':')
		dst = AppendCanonical(dst, m.data)
	}
	return append(dst, '}')
}

// appendQuoted appends a string in the spelling of our encoder.
func (v Value) appendQuoted(dst []byte) []byte {
	raw := v.Raw()
	if v.doc.ours || v.node().info&infoEscaped == 0 {
		return append(dst, raw...)
	}
	dst = append(dst, '"')
	for inside := raw[1 : len(raw)-1]; len(inside) > 0; {
		n := plainRun(inside)
		if n > 0 {
			dst = append(dst, inside[:n]...)
		} else {
			var r rune
			var buf [utf8.UTFMax]byte
			r, n = unescape(inside)
			dst = appendEscaped(dst, utf8.AppendRune(buf[:0], r))
		}
		inside = inside[n:]
	}
	return append(dst, '"')
}
