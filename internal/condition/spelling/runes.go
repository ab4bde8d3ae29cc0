package spelling

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

var (
	// ZeroWidth is the code points that the second form of K21 omits.
	ZeroWidth = automaton.Ranges(0x00AD, 0x00AD, 0x180E, 0x180E, 0x200B, 0x200F, 0x202A, 0x202E, 0x2060, 0x2064, 0x2066, 0x2069, 0xFEFF, 0xFEFF)
	// WhiteSpace is Unicode's White_Space, which the third form trims.
	WhiteSpace = automaton.Ranges('\t', '\r', ' ', ' ', 0x85, 0x85, 0xA0, 0xA0, 0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029,
		0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000)
)

// Fold converts a text to the form in which restrictive conditions compare:
// compatibility-normalised and without case (C6, C7). It does not allocate for ASCII without
// capital letters.
func Fold(text string) string {
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
			b[i] = LowerASCII(c)
		}
		return string(b)
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text)))
}

// LowerASCII returns a letter of ASCII in lower case, and other bytes unchanged.
func LowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// IsWhite reports whether a code point is white space.
func IsWhite(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || '\t' <= r && r <= '\r'
	}
	return WhiteSpace.Contains(r)
}

// Forms returns the additional forms of a string that a restrictive condition tests: without
// zero-width code points, and that trimmed (K21).
func Forms(value string) []string {
	seen := strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && ZeroWidth.Contains(r) {
			return -1
		}
		return r
	}, value)
	return []string{seen, strings.TrimFunc(seen, IsWhite)}
}
