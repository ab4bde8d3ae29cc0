package match

import (
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

var (
	// zeroWidth is the code points that the second form of K21 omits.
	zeroWidth = automaton.Ranges(0x00AD, 0x00AD, 0x180E, 0x180E, 0x200B, 0x200F, 0x202A, 0x202E, 0x2060, 0x2064, 0x2066, 0x2069, 0xFEFF, 0xFEFF)
	// whiteSpace is Unicode's White_Space, which the third form trims.
	whiteSpace = automaton.Ranges('\t', '\r', ' ', ' ', 0x85, 0x85, 0xA0, 0xA0, 0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029,
		0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000)
)

// fold converts a text to the form in which restrictive conditions compare:
// compatibility-normalised and without case (C6, C7). It does not allocate for ASCII without
// capital letters.
func fold(text string) string {
	ascii, lower := true, true
	for i := 0; i < len(text); i++ {
		ascii = ascii && text[i] < utf8.RuneSelf
		lower = lower && (text[i] < 'A' || text[i] > 'Z')
	}
	if ascii && lower {
		return text
	}
	if ascii {
		b := []byte(text)
		for i, c := range b {
			b[i] = lowerASCII(c)
		}
		return string(b)
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text)))
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
