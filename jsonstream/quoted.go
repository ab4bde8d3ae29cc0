package jsonstream

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// ScanString returns the length of the JSON string at the start of text, quotes included,
// and whether it contains an escape. The length is 0 if text does not start with a string
// that a [Parser] accepts. It is for a caller that knows the text around the string
// already.
func ScanString(text []byte) (n int, escaped bool) {
	if len(text) == 0 || text[0] != '"' {
		return 0, false
	}
	end, info := scanString(text, 1)
	if end == refused {
		return 0, false
	}
	return end, info&infoEscaped != 0
}

// AppendString combines [ScanString] and [AppendUnescaped]: it appends the decoded text of
// the JSON string at the start of text, and returns the length of the string with its
// quotes. If there is no string that a [Parser] accepts, it returns dst unchanged and
// length 0.
func AppendString(dst, text []byte) (out []byte, n int) {
	if len(text) == 0 || text[0] != '"' {
		return dst, 0
	}
	had := len(dst)
	for i := 1; ; {
		if i+8 > len(text) {
			return appendRest(dst, had, text, i)
		}
		if cap(dst)-len(dst) < 8 {
			dst = slices.Grow(dst, max(64, len(dst)))
		}
		at, w := len(dst), binary.LittleEndian.Uint64(text[i:])
		binary.LittleEndian.PutUint64(dst[at:at+8], w)
		m := notPlain(w)
		if m == 0 {
			dst, i = dst[:at+8], i+8
			continue
		}
		plain := bits.TrailingZeros64(m) >> 3
		dst, i = dst[:at+plain], i+plain
		c := text[i]
		if c == '"' {
			return dst, i + 1
		}
		if c >= utf8.RuneSelf {
			if n := sequences(text[i:]); n > 0 {
				dst, i = append(dst, text[i:i+n]...), i+n
				continue
			}
		}
		if c != '\\' || i+1 == len(text) || shortEscapes[text[i+1]] == 0 {
			return appendRest(dst, had, text, i)
		}
		dst, i = append(dst, shortEscapes[text[i+1]]), i+2
		if i+1 < len(text) && text[i] == '\\' && shortEscapes[text[i+1]] != 0 { // they come in pairs
			dst, i = append(dst, shortEscapes[text[i+1]]), i+2
		}
	}
}

// appendRest is AppendString from text[i] on, for a string with long escapes, or close to
// the end of the text.
func appendRest(dst []byte, had int, text []byte, i int) (out []byte, n int) {
	end, _ := scanSlow(text, i, 0)
	if end == refused {
		return dst[:had], 0
	}
	return appendUnescaped(dst, text[i:end-1]), end
}

// AppendUnescaped appends the decoded text of an accepted string; inside is the string
// without its quotes.
func AppendUnescaped(dst, inside []byte) []byte { return appendUnescaped(dst, inside) }
