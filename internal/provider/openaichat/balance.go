package openaichat

import (
	"encoding/binary"
	"math/bits"
)

// balance tracks argument text to determine whether it can be one complete JSON object: a
// server that sends index 0 for every call starts the next call only after a complete one
// (F3). The gate evaluates whether the object is valid; unbalanced text is never complete.
type balance struct {
	depth    int
	started  bool
	inString bool // inside a string
	escaped  bool // after a backslash in it
	invalid  bool // does not start with an object, or continues after it
}

func (b *balance) feed(text []byte) {
	for i := 0; i < len(text); i++ {
		if b.inString {
			if i = b.skipString(text, i); i == len(text) {
				return
			}
			b.inString = false
			continue
		}
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case !b.started:
			b.started, b.depth, b.invalid = true, 1, c != '{'
		case b.depth == 0:
			b.invalid = true
		case c == '"':
			b.inString = true
		case c == '{' || c == '[':
			b.depth++
		case c == '}' || c == ']':
			b.depth--
		}
	}
}

// skipString returns the position of the closing quote, or the length of the text.
func (b *balance) skipString(text []byte, i int) int {
	if b.escaped && i < len(text) {
		b.escaped = false
		i++
	}
	for i < len(text) {
		if i+8 <= len(text) {
			m := findSpecial(binary.LittleEndian.Uint64(text[i:]))
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

// findSpecial tests eight bytes at once: the lowest set bit is in the first byte that is a
// quote or a backslash.
func findSpecial(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote, backslash := w^'"'*ones, w^'\\'*ones
	return ((quote-ones)&^quote | (backslash-ones)&^backslash) & highs
}

// complete reports whether the text so far can be one complete object.
func (b *balance) complete() bool { return b.started && b.depth == 0 && !b.invalid }
