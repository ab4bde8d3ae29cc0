package openaichat

import (
	"encoding/binary"
	"math/bits"
)

// balance follows argument text far enough to know whether it can be one
// complete JSON object: a server that numbers every call 0 begins the next call
// only behind a complete one (WIRE 2.3, F3). Whether the object is valid is for
// the gate to judge; a text that is not balanced is never complete.
type balance struct {
	depth   int
	began   bool
	str     bool // inside a string
	escaped bool // behind a backslash in it
	bad     bool // does not start with an object, or goes on behind it
}

func (b *balance) feed(text []byte) {
	for i := 0; i < len(text); i++ {
		if b.str {
			if i = b.inString(text, i); i == len(text) {
				return
			}
			b.str = false
			continue
		}
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case !b.began:
			b.began, b.depth, b.bad = true, 1, c != '{'
		case b.depth == 0:
			b.bad = true
		case c == '"':
			b.str = true
		case c == '{' || c == '[':
			b.depth++
		case c == '}' || c == ']':
			b.depth--
		}
	}
}

// inString returns where the closing quote stands, or the length of the text.
func (b *balance) inString(text []byte, i int) int {
	if b.escaped && i < len(text) {
		b.escaped = false
		i++
	}
	for i < len(text) {
		if i+8 <= len(text) {
			m := special(binary.LittleEndian.Uint64(text[i:]))
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		switch text[i] {
		case '"':
			return i
		case '\\':
			i++
			b.escaped = i == len(text)
		}
		i++
	}
	return min(i, len(text))
}

// special looks at eight bytes at once: the lowest bit set lies in the first byte
// that is a quote or a backslash.
func special(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote, backslash := w^'"'*ones, w^'\\'*ones
	return ((quote-ones)&^quote | (backslash-ones)&^backslash) & highs
}

// complete reports whether the text so far can be one whole object.
func (b *balance) complete() bool { return b.began && b.depth == 0 && !b.bad }
