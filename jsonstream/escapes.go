package jsonstream

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// shortEscapes maps the character after a backslash to the character that the escape
// encodes, 0 if it is not one of the eight short escapes. It is never written.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// encodedRun returns the length of the longest prefix of b that is the inside of a string
// as AppendQuote encodes it, limited to whole characters, and whether it contains an
// escape. The escape of a control character without a short one ends the run.
func encodedRun(b []byte) (n int, escaped bool) {
	for n < len(b) {
		if n+8 <= len(b) {
			m := notPlain(binary.LittleEndian.Uint64(b[n:]))
			if m == 0 {
				n += 8
				continue
			}
			n += bits.TrailingZeros64(m) >> 3
		}
		switch c := b[n]; {
		case c == '\\':
			if n+1 == len(b) || shortEscapes[b[n+1]] == 0 || b[n+1] == '/' {
				return n, escaped
			}
			n, escaped = n+2, true
		case c >= utf8.RuneSelf:
			length := sequence(b[n:])
			if length == 0 {
				return n, escaped
			}
			n += length
		case isPlain(c):
			n++
		default:
			return n, escaped
		}
	}
	return n, escaped
}

// unescape decodes the escape, or the pair of escapes of one character, at the start of b.
// n is its length, 0 if it is incomplete or invalid.
func unescape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	if c := shortEscapes[b[1]]; c != 0 {
		return rune(c), 2
	}
	unit, ok := codeUnit(b)
	switch {
	case !ok || isLow(unit):
		return 0, 0
	case !isHigh(unit):
		return rune(unit), 6
	}
	low, ok := codeUnit(b[6:])
	if !ok || !isLow(low) {
		return 0, 0
	}
	return joinSurrogates(unit, low), 12
}

// codeUnit decodes the escape \uXXXX at the start of b.
func codeUnit(b []byte) (unit uint32, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		digit, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		unit = unit<<4 | digit
	}
	return unit, true
}

func hexDigit(c byte) (digit uint32, ok bool) {
	switch {
	case '0' <= c && c <= '9':
		return uint32(c - '0'), true
	case 'a' <= c && c <= 'f':
		return uint32(c-'a') + 10, true
	case 'A' <= c && c <= 'F':
		return uint32(c-'A') + 10, true
	}
	return 0, false
}

func isHigh(unit uint32) bool { return unit>>10 == 0xD800>>10 }
func isLow(unit uint32) bool  { return unit>>10 == 0xDC00>>10 }

func joinSurrogates(high, low uint32) rune {
	return rune(0x10000 + (high&0x3FF)<<10 + low&0x3FF)
}

// appendUnescaped appends the decoded inside of an accepted string. It processes eight
// bytes at a time, as appendEscaped does.
func appendUnescaped(dst, inside []byte) []byte {
	dst, _ = appendUnescapedPart(slices.Grow(dst, len(inside)), inside, len(dst)+len(inside))
	return dst
}

// appendUnescapedPart is appendUnescaped until dst has enough bytes, or a few more; n is
// the number of bytes of inside that it processed.
func appendUnescapedPart(dst, inside []byte, enough int) (out []byte, n int) {
	dst = slices.Grow(dst, min(len(inside), enough-len(dst)+8)) // a text is never longer than its encoding
	i := 0
	for i < len(inside) && len(dst) < enough {
		if i+8 <= len(inside) {
			w := binary.LittleEndian.Uint64(inside[i:])
			n := len(dst)
			binary.LittleEndian.PutUint64(dst[n:n+8], w)
			m := backslashes(w)
			if m == 0 {
				dst, i = dst[:n+8], i+8
				continue
			}
			plain := bits.TrailingZeros64(m) >> 3
			dst, i = dst[:n+plain], i+plain
		}
		switch c := inside[i]; {
		case c != '\\':
			dst = append(dst, c)
			i++
		case shortEscapes[inside[i+1]] != 0:
			dst, i = append(dst, shortEscapes[inside[i+1]]), i+2
			if i+1 < len(inside) && inside[i] == '\\' && shortEscapes[inside[i+1]] != 0 { // they come in pairs
				dst, i = append(dst, shortEscapes[inside[i+1]]), i+2
			}
		default:
			r, n := unescape(inside[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
		}
	}
	return dst, i
}

// backslashes tests eight bytes at once: the lowest bit set in the result is in the first
// backslash.
func backslashes(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	w ^= '\\' * ones
	return (w - ones) &^ w & highs
}

// equalUnescaped reports whether the inside of an accepted string decodes to s.
func equalUnescaped(inside []byte, s string) bool {
	var buf [utf8.UTFMax]byte
	for i := 0; i < len(inside); {
		part, n := inside[i:], plainRun(inside[i:])
		if n > 0 {
			part = part[:n]
		} else {
			r, length := unescape(part)
			part, n = utf8.AppendRune(buf[:0], r), length
		}
		if len(s) < len(part) || s[:len(part)] != string(part) {
			return false
		}
		s = s[len(part):]
		i += n
	}
	return s == ""
}
