package occur

import (
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// folded are the characters below 0x600 whose compatibility form is one character without case. 0
// is every other one, such as combining marks.
var folded = func() (t [0x600]uint16) {
	fold := cases.Fold()
	for r := range t {
		if 0x300 <= r && r < 0x370 {
			continue
		}
		s := norm.NFKC.String(fold.String(norm.NFKC.String(string(rune(r)))))
		if one, size := utf8.DecodeRuneInString(s); size == len(s) && one < 0xFFFF {
			t[r] = uint16(one)
		}
	}
	return t
}()

// caseless reports whether a character is in a block of scripts without case. In a text in its
// compatibility form it stays as it is.
func caseless(r rune) bool {
	return 0x600 <= r && r < 0x10A0 || 0x1100 <= r && r < 0x13A0 || 0x1400 <= r && r < 0x1C80 || 0x2E80 <= r && r < 0xA640 || 0xA800 <= r && r < 0xAB30 || 0xAC00 <= r && r < 0xD7B0
}

// appendFolded appends a word of a text in its compatibility form without case.
func appendFolded(dst, word []byte) []byte {
	start := len(dst)
	for i := 0; i < len(word); {
		if c := word[i]; c < utf8.RuneSelf {
			dst = append(dst, spelling.LowerASCII(c))
			i++
			continue
		}
		r, size := utf8.DecodeRune(word[i:])
		i += size
		switch {
		case r < 0x600 && folded[r] != 0:
			dst = utf8.AppendRune(dst, rune(folded[r]))
		case caseless(r):
			dst = append(dst, word[i-size:i]...)
		default:
			return append(dst[:start], spelling.Fold(string(word))...)
		}
	}
	return dst
}

// normalised returns a text in its compatibility form, valid UTF-8.
func normalised(text []byte) []byte {
	n := norm.NFKC.QuickSpan(text)
	if n == len(text) {
		return text
	}
	return norm.NFKC.Append(append(make([]byte, 0, len(text)+len(text)/8), text[:n]...), text[n:]...)
}
