package jsonstream

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// plainRun returns the length of the longest prefix of b that is string text without quote,
// backslash or control character, limited to whole and valid UTF-8 sequences.
func plainRun(b []byte) int {
	i := 0
	for {
		for i+8 <= len(b) {
			if m := notPlain(binary.LittleEndian.Uint64(b[i:])); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(b) && isPlain(b[i]) {
			i++
		}
		if i == len(b) || b[i] < utf8.RuneSelf {
			return i
		}
		n := sequences(b[i:])
		if i += n; n == 0 || i < len(b) && b[i] >= utf8.RuneSelf {
			return i
		}
	}
}

// sequences returns the length of the valid UTF-8 sequences of more than one byte at the start
// of b.
func sequences(b []byte) (n int) {
	for n < len(b) && b[n] >= utf8.RuneSelf {
		length := sequence(b[n:])
		if length == 0 {
			break
		}
		n += length
	}
	return n
}

// isPlain reports whether an ASCII byte can be in a string without an escape.
func isPlain(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// notPlain tests eight bytes at once. The lowest bit set in the result is in the first byte
// that is a quote, a backslash, below 0x20 or above 0x7F. Bits above it have no meaning,
// because a borrow may have set them.
func notPlain(w uint64) uint64 {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	control := w - ' '*ones
	quote := (w ^ '"'*ones) - ones
	backslash := (w ^ '\\'*ones) - ones
	return (w | control | quote | backslash) & highs
}

// sequenceShape returns, for the first byte of a UTF-8 sequence of more than one byte, the
// length of the sequence and the limits of its second byte (RFC 3629 section 4). Length 0:
// no sequence starts with this byte.
func sequenceShape(c byte) (length int, low, high byte) {
	switch {
	case c < 0xC2 || c > 0xF4:
		return 0, 0, 0
	case c < 0xE0:
		return 2, 0x80, 0xBF
	case c == 0xE0:
		return 3, 0xA0, 0xBF
	case c == 0xED:
		return 3, 0x80, 0x9F
	case c < 0xF0:
		return 3, 0x80, 0xBF
	case c == 0xF0:
		return 4, 0x90, 0xBF
	case c == 0xF4:
		return 4, 0x80, 0x8F
	}
	return 4, 0x80, 0xBF
}

// sequence returns the length of the valid UTF-8 sequence of more than one byte at the
// start of b, 0 if there is none.
func sequence[T ~[]byte | ~string](b T) int {
	if len(b) >= 3 && b[0] > 0xE0 && b[0] < 0xED && b[1]&0xC0 == 0x80 && b[2]&0xC0 == 0x80 {
		return 3 // the common case beyond Latin letters
	}
	n, low, high := sequenceShape(b[0])
	if n == 0 || len(b) < n || b[1] < low || b[1] > high {
		return 0
	}
	for i := 2; i < n; i++ {
		if b[i]&0xC0 != 0x80 {
			return 0
		}
	}
	return n
}
