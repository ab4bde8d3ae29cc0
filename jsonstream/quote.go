package jsonstream

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// AppendQuote appends s as a JSON string. It is the only encoder of strings that the gate
// writes (L4). It escapes the quote, the backslash and the control characters below U+0020,
// with the short escape where there is one; all other characters are written as they are.
// Bytes that are not UTF-8, which no accepted text contains, become U+FFFD, so that the
// result is always a JSON string.
func AppendQuote[T ~[]byte | ~string](dst []byte, s T) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, s)
	return append(dst, '"')
}

// escapeLetters maps a byte to the letter of its short escape, 0 if there is none. It is
// never written.
var escapeLetters = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

const hexDigits = "0123456789abcdef"

// appendEscaped appends s as the inside of a JSON string. It copies plain text eight bytes
// at a time; bytes written beyond the text are overwritten later.
func appendEscaped[T ~[]byte | ~string](dst []byte, s T) []byte {
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			if cap(dst)-len(dst) < 16 {
				rest := len(s) - i
				dst = slices.Grow(dst, rest+rest/8+16)
			}
			w := word(s, i)
			n := len(dst)
			binary.LittleEndian.PutUint64(dst[n:n+8], w)
			m := notPlain(w)
			if m == 0 {
				dst, i = dst[:n+8], i+8
				continue
			}
			plain := bits.TrailingZeros64(m) >> 3
			dst, i = dst[:n+plain], i+plain
			if e := escapeLetters[s[i]]; e != 0 {
				dst, i = append(dst, '\\', e), i+1
				if i < len(s) && escapeLetters[s[i]] != 0 { // in source code they come in pairs
					dst, i = append(dst, '\\', escapeLetters[s[i]]), i+1
				}
				continue
			}
		}
		run := i
		for run < len(s) && isPlain(s[run]) {
			run++
		}
		if run > i {
			dst, i = append(dst, s[i:run]...), run
			continue
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			n := sequence(s[i:])
			if n == 0 {
				dst = append(dst, "\ufffd"...)
				n = 1
			} else {
				dst = append(dst, s[i:i+n]...)
			}
			i += n
			continue
		}
		dst, i = appendEscape(dst, c), i+1
	}
	return dst
}

// IsQuote reports whether text equals the text that [AppendQuote] writes for s.
func IsQuote(text, s []byte) bool {
	if len(text) < len(s)+2 || text[0] != '"' {
		return false
	}
	var buf [16]byte // space for appendEscaped
	at := 1
	for i := 0; i < len(s); {
		if i+8 <= len(s) && at+8 <= len(text) {
			w := binary.LittleEndian.Uint64(s[i:])
			differ, m := w^binary.LittleEndian.Uint64(text[at:]), notPlain(w)
			if m == 0 {
				if differ != 0 {
					return false
				}
				i, at = i+8, at+8
				continue
			}
			plain := bits.TrailingZeros64(m) >> 3
			if differ&(1<<(8*plain)-1) != 0 {
				return false
			}
			i, at = i+plain, at+plain
		}
		escapes := 0
		for ; i < len(s) && escapes < 2 && escapeLetters[s[i]] != 0; escapes++ { // in source code they come in pairs
			if at+2 > len(text) || text[at] != '\\' || text[at+1] != escapeLetters[s[i]] {
				return false
			}
			i, at = i+1, at+2
		}
		if escapes > 0 {
			continue
		}
		n := 1
		if s[i] >= utf8.RuneSelf {
			n = max(n, sequence(s[i:]))
		}
		written := appendEscaped(buf[:0], s[i:i+n])
		if len(text)-at < len(written) || string(text[at:at+len(written)]) != string(written) {
			return false
		}
		i, at = i+n, at+len(written)
	}
	return at+1 == len(text) && text[at] == '"'
}

// word returns s[i:i+8] as a number.
func word[T ~[]byte | ~string](s T, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// needsEscape reports whether an ASCII character must be escaped.
func needsEscape(c byte) bool { return c < ' ' || c == '"' || c == '\\' }

// appendEscape appends the escape of a character that needs one.
func appendEscape(dst []byte, c byte) []byte {
	if e := escapeLetters[c]; e != 0 {
		return append(dst, '\\', e)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
