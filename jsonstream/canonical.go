package jsonstream

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"slices"
	"sync"
	"unicode/utf8"
)

// AppendCanonical appends the canonical text of v: members sorted by the bytes of their
// keys, numbers as [Decimal.AppendCanonical] writes them, strings as [AppendQuote] does,
// and no white space. Two values have the same canonical text exactly if they are equal in
// the sense of JSON Schema. It does not append anything for the zero Value.
func AppendCanonical(dst []byte, v Value) []byte { return new(canonical).append(dst, v) }

// HashCanonical returns the SHA-256 of the canonical text of v.
func HashCanonical(v Value) [32]byte {
	h := hashers.Get().(*Hasher)
	sum := h.Hash(v)
	if cap(h.text) <= maxKeptText {
		hashers.Put(h)
	}
	return sum
}

// hashers are the hashers of HashCanonical that are not in use. A long text is not kept.
var hashers = sync.Pool{New: func() any { return new(Hasher) }}

const maxKeptText = 64 << 10

// Hasher computes [HashCanonical] of several values and reuses its memory. The zero Hasher
// is ready for use. It is not safe for concurrent use.
type Hasher struct {
	c    canonical
	text []byte
	sum  [sha256.Size]byte
}

// Hash returns the SHA-256 of the canonical text of v.
func (h *Hasher) Hash(v Value) [32]byte {
	h.c.hashes, h.c.started = true, false
	if h.text = h.c.append(h.text[:0], v); !h.c.started {
		return sha256.Sum256(h.text)
	}
	h.c.hash.Write(h.text)
	h.c.hash.Sum(h.sum[:0])
	return h.sum
}

// canonical writes canonical text. If only the hash is needed, a long string is hashed
// together with the text before it and is not copied.
type canonical struct {
	hashes  bool
	started bool      // part of the text is in the hash
	hash    hash.Hash // nil until it is needed
	members []member  // of the objects that are being written, the innermost last
}

// hashText adds the text so far and a long string to the hash.
func (c *canonical) hashText(text, long []byte) {
	if c.hash == nil {
		c.hash = sha256.New()
	}
	if !c.started {
		c.hash.Reset()
		c.started = true
	}
	c.hash.Write(text)
	c.hash.Write(long)
}

// member is one member of an object, to be sorted by its key.
type member struct {
	key []byte
	at  uint32 // node of the key; the node of the value follows
}

// longString is the length from which a string is hashed without a copy.
const longString = 256

func (c *canonical) append(dst []byte, v Value) []byte {
	switch v.Kind() {
	case Object:
		return c.appendObject(dst, v)
	case Array:
		dst = append(dst, '[')
		comma := false
		for element := range v.Elements() {
			if comma {
				dst = append(dst, ',')
			}
			comma = true
			dst = c.append(dst, element)
		}
		return append(dst, ']')
	case String:
		if raw := v.Raw(); c.hashes && len(raw) >= longString && v.hasOwnEncoding() {
			c.hashText(dst, raw)
			return dst[:0]
		}
		return v.appendQuoted(dst)
	case Number:
		d, _ := v.Decimal()
		return d.AppendCanonical(dst)
	}
	return append(dst, v.Raw()...)
}

func (c *canonical) appendObject(dst []byte, v Value) []byte {
	first := len(c.members)
	sorted := true
	for key := range v.Members() {
		text, ok := key.TextBytes()
		if !ok {
			text = key.AppendText(nil)
		}
		n := len(c.members)
		sorted = sorted && (n == first || bytes.Compare(c.members[n-1].key, text) < 0)
		c.members = append(c.members, member{text, key.at})
	}
	end := len(c.members)
	if !sorted {
		sortMembers(c.members[first:end])
	}
	dst = append(dst, '{')
	for i := first; i < end; i++ {
		if i > first {
			dst = append(dst, ',')
		}
		at := c.members[i].at
		dst = append(Value{v.doc, at}.appendQuoted(dst), ':')
		dst = c.append(dst, Value{v.doc, at + 1})
	}
	clear(c.members[first:])
	c.members = c.members[:first]
	return append(dst, '}')
}

// sortMembers sorts by key. Objects are small, and their keys often nearly in order.
func sortMembers(m []member) {
	if len(m) > 12 {
		slices.SortFunc(m, func(a, b member) int { return bytes.Compare(a.key, b.key) })
		return
	}
	for i := 1; i < len(m); i++ {
		one, at := m[i], i
		for ; at > 0 && bytes.Compare(m[at-1].key, one.key) > 0; at-- {
			m[at] = m[at-1]
		}
		m[at] = one
	}
}

// hasOwnEncoding reports whether a string is encoded as AppendQuote encodes it.
func (v Value) hasOwnEncoding() bool { return v.doc.canonicalQuotes || v.node().info&infoEscaped == 0 }

// appendQuoted appends a string in the encoding of AppendQuote.
func (v Value) appendQuoted(dst []byte) []byte {
	raw := v.Raw()
	if v.hasOwnEncoding() {
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
