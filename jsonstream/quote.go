package jsonstream

import "unicode/utf8"

// AppendQuote appends s as a JSON string: the only encoder of what stopgate
// writes (WIRE L4). Escaped are the quote, the backslash and the control
// characters below U+0020, in their short form where there is one; everything
// else stays as it is. Bytes that are not UTF-8, which no accepted text
// contains, become U+FFFD, so that the result is always a JSON string.
func AppendQuote[T ~[]byte | ~string](dst []byte, s T) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, s)
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends s as the inside of a JSON string.
func appendEscaped[T ~[]byte | ~string](dst []byte, s T) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			if n := sequence(s[i:]); n > 0 {
				i += n
				continue
			}
			dst = append(append(dst, s[start:i]...), "\ufffd"...)
			i++
			start = i
			continue
		}
		if !needsEscape(c) {
			i++
			continue
		}
		dst = appendEscape(append(dst, s[start:i]...), c)
		i++
		start = i
	}
	return append(dst, s[start:]...)
}

// needsEscape reports whether an ASCII character cannot stand for itself.
func needsEscape(c byte) bool { return c < ' ' || c == '"' || c == '\\' }

// appendEscape appends the escape of a character that needs one.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
