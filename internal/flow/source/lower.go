package source

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// asciiLower returns a text with the letters of ASCII in lower case.
func asciiLower(text []byte) []byte {
	out := bytes.Clone(text)
	i := 0
	for ; i+8 <= len(out); i += 8 {
		binary.LittleEndian.PutUint64(out[i:], lowered(binary.LittleEndian.Uint64(out[i:])))
	}
	for ; i < len(out); i++ {
		out[i] = byte(lowered(uint64(out[i])))
	}
	return out
}

// lowered returns eight bytes with the letters of ASCII in lower case.
func lowered(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	low := w &^ highs
	// The high bit of a byte is set from "A" on, and from the byte after "Z" on.
	from, after := low+(0x80-'A')*ones, low+(0x7F-'Z')*ones
	return w | (from&^after&^w&highs)>>2
}

// appendLower appends [bytes.ToLower] of a text, which is slow for one with characters outside ASCII.
func appendLower(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			if w := binary.LittleEndian.Uint64(text[i:]); w&0x8080808080808080 == 0 {
				dst = binary.LittleEndian.AppendUint64(dst, lowered(w))
				i += 8
				continue
			}
		}
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
		i += size
	}
	return dst
}
