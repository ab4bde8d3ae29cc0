package occur

import (
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// decode is utf8.DecodeRune, which is slow outside ASCII.
func decode(text []byte) (rune, int) {
	switch c := text[0]; {
	case 0xC2 <= c && c < 0xE0 && len(text) > 1 && text[1]&0xC0 == 0x80:
		return rune(c&0x1F)<<6 | rune(text[1]&0x3F), 2
	case 0xE1 <= c && c < 0xED && len(text) > 2 && text[1]&0xC0 == 0x80 && text[2]&0xC0 == 0x80:
		return rune(c&0x0F)<<12 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F), 3
	}
	return utf8.DecodeRune(text)
}

// caseless reports whether a character is in a block of scripts without case. In a text in its
// compatibility form it stays as it is.
func caseless(r rune) bool {
	return 0x600 <= r && r < 0x10A0 || 0x1100 <= r && r < 0x13A0 || 0x1400 <= r && r < 0x1C80 || 0x2E80 <= r && r < 0xA640 || 0xA800 <= r && r < 0xAB30 || 0xAC00 <= r && r < 0xD7B0
}

// longestWord is the length of a word whose case is folded with the rules of all scripts.
const longestWord = 4096

// appendFolded appends a word of a text in its compatibility form without case.
func appendFolded(dst, word []byte) []byte {
	start := len(dst)
	var t *table // of a word that is not ASCII
	for i := 0; i < len(word); {
		if c := word[i]; c < utf8.RuneSelf {
			dst = append(dst, spelling.LowerASCII(c))
			i++
			continue
		}
		if t == nil {
			t = tables()
		}
		r, size := decode(word[i:])
		i += size
		switch {
		case r < 0x600 && t.folded[r] != 0:
			dst = utf8.AppendRune(dst, rune(t.folded[r]))
		case caseless(r):
			dst = append(dst, word[i-size:i]...)
		case len(word) > longestWord:
			return append(dst[:start], word...)
		default:
			return append(dst[:start], spelling.Fold(string(word))...)
		}
	}
	return dst
}

// normalised returns a text in its compatibility form.
func normalised(text []byte) []byte {
	n := stable(text)
	if n == len(text) {
		return text
	}
	n += norm.NFKC.QuickSpan(text[n:])
	if n == len(text) {
		return text
	}
	return norm.NFKC.Append(append(make([]byte, 0, len(text)+len(text)/8), text[:n]...), text[n:]...)
}

// stable returns the length of the beginning of a text that surely is in its compatibility form. It
// ends before a character that later ones cannot change.
func stable(text []byte) int {
	last := 0 // the start of the last character
	var t *table
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			for i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:])&0x8080808080808080 == 0 {
				i += 8
			}
			for i < len(text) && text[i] < utf8.RuneSelf {
				i++
			}
			last = i - 1
			continue
		}
		if 0xC2 <= c && c < 0xD8 && i+1 < len(text) && text[i+1]&0xC0 == 0x80 { // below 0x600
			if t == nil {
				t = tables()
			}
			if !t.unchanged[rune(c&0x1F)<<6|rune(text[i+1]&0x3F)] {
				return last
			}
			last = i
			i += 2
			continue
		}
		r, size := decode(text[i:])
		if !(0x4E00 <= r && r <= 0x9FFF || 0x3041 <= r && r <= 0x3096 || 0x30A1 <= r && r <= 0x30FA || r == 0x3001 || r == 0x3002 || 0x2018 <= r && r <= 0x201E) {
			return last
		}
		last = i
		i += size
	}
	return len(text)
}
