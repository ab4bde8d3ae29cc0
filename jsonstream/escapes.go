package jsonstream

import (
	"bytes"
	"unicode/utf8"
)

// shortEscapes is what a backslash and a byte stand for, 0 if they are none of
// the eight short escapes. It is never written.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape decodes the escape, or the pair of escapes of one character, that b
// starts with. n is its length, and 0 if it is not complete or not right.
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

// codeUnit reads the escape \uXXXX that b starts with.
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

// appendUnescaped appends the decoding of the inside of a string that was
// accepted.
func appendUnescaped(dst, inside []byte) []byte {
	for {
		i := bytes.IndexByte(inside, '\\')
		if i < 0 {
			return append(dst, inside...)
		}
		dst = append(dst, inside[:i]...)
		inside = inside[i:]
		if c := shortEscapes[inside[1]]; c != 0 {
			dst = append(dst, c)
			inside = inside[2:]
			continue
		}
		r, n := unescape(inside)
		dst = utf8.AppendRune(dst, r)
		inside = inside[n:]
	}
}

// equalUnescaped reports whether the inside of a string that was accepted
// decodes to s.
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
