package schema

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold maps a key to a form that is equal for keys that tools may confuse: without control and
// invisible characters, in compatibility composition, without case. It detects keys that some tool
// could read as a declared name (A4, A5, A6, A25, I9); rules never match it.
func fold(key []byte) string {
	if lower, ok := foldASCII(key); ok {
		return lower
	}
	text := make([]byte, 0, len(key))
	for i := 0; i < len(key); {
		r, n := utf8.DecodeRune(key[i:])
		if !isControl(r) && !isInvisible(r) {
			text = append(text, key[i:i+n]...)
		}
		i += n
	}
	// One round can make another one necessary; two are always enough.
	for range 3 {
		text = norm.NFKC.Bytes(text)
		folded := make([]byte, 0, len(text))
		for _, r := range string(text) {
			if !isInvisible(r) {
				folded = utf8.AppendRune(folded, foldRune(r))
			}
		}
		text = folded
	}
	return string(text)
}

// foldASCII folds ASCII keys, as nearly all are.
func foldASCII(key []byte) (string, bool) {
	lower := make([]byte, len(key))
	for i, c := range key {
		if c < ' ' || c >= 0x7F {
			return "", false
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	return string(lower), true
}

// foldRune returns one representative of all code points that differ from r in
// case only: the smallest, or the lower-case letter if that is ASCII.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// isControl reports whether r is in C0 or DEL.
func isControl(r rune) bool { return r < ' ' || r == 0x7F }

// isInvisible reports whether K21 drops a code point: zero-width and soft ones, and directional
// marks.
func isInvisible(r rune) bool {
	switch {
	case r == 0xAD, r == 0x180E, r == 0xFEFF:
	case 0x200B <= r && r <= 0x200F:
	case 0x202A <= r && r <= 0x202E:
	case 0x2060 <= r && r <= 0x2064:
	case 0x2066 <= r && r <= 0x2069:
	default:
		return false
	}
	return true
}

// withoutControls returns the key without C0 and DEL; cut is set if it has any.
func withoutControls(key []byte) (bare []byte, cut bool) {
	for i, c := range key {
		if isControl(rune(c)) {
			if !cut {
				bare, cut = append(bare, key[:i]...), true
			}
			continue
		}
		if cut {
			bare = append(bare, c)
		}
	}
	return bare, cut
}
