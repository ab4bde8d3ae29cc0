package spelling

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/condition/glob"
)

// IsScheme reports whether a text has the syntax of RFC 3986, section 3.1.
func IsScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		c := LowerASCII(s[i])
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return s != ""
}

// PercentDecoded decodes %XX and %uXXXX once. Invalid escapes stay, and overlong forms of ASCII are
// decoded.
func PercentDecoded(s string) []string {
	if strings.IndexByte(s, '%') < 0 {
		return nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] == '%' {
			if v, ok := HexValue(s[i+1:], 2); ok {
				out = append(out, byte(v))
				i += 3
				continue
			}
			if rest := s[i+1:]; rest != "" && LowerASCII(rest[0]) == 'u' {
				if v, ok := HexValue(rest[1:], 4); ok {
					out = utf8.AppendRune(out, v)
					i += 6
					continue
				}
			}
		}
		out = append(out, s[i])
		i++
	}
	return []string{strings.ToValidUTF8(string(shortened(out)), "\uFFFD")}
}

// HexValue reads n hexadecimal digits.
func HexValue(s string, n int) (v rune, ok bool) {
	if len(s) < n {
		return 0, false
	}
	for _, c := range []byte(s[:n]) {
		c = LowerASCII(c)
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			v = v<<4 | rune(c-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

// shortened replaces the two- and three-byte overlong forms of ASCII (A9).
func shortened(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); i++ {
		switch {
		case i+1 < len(b) && b[i]&^1 == 0xC0 && b[i+1]&0xC0 == 0x80:
			out = append(out, b[i]<<6|b[i+1]&0x3F)
			i++
		case i+2 < len(b) && b[i] == 0xE0 && b[i+1]&^1 == 0x80 && b[i+2]&0xC0 == 0x80:
			out = append(out, b[i+1]<<6|b[i+2]&0x3F)
			i += 2
		default:
			out = append(out, b[i])
		}
	}
	return out
}

// IsEdge reports whether some tools drop a character at the ends of a name: quotes and white space.
func IsEdge(r rune) bool { return r == '"' || r == '\'' || r == '`' || IsWhite(r) }

// Visible removes invisible code points.
func Visible(s string) []string {
	return []string{strings.Map(func(r rune) rune {
		if Invisible(r) {
			return -1
		}
		return r
	}, s)}
}

// Compatible returns the compatibility form, with look-alike separators replaced.
func Compatible(s string) []string {
	return []string{strings.Map(Lookalike, norm.NFKC.String(s))}
}

// Invisible reports whether a code point is not drawn, or changes how others are drawn: controls,
// format characters, variation selectors, fillers.
func Invisible(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7F
	}
	return r == glob.Root || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Lookalike maps characters that some tools take for a separator, and that compatibility
// normalisation does not map, to the separator.
func Lookalike(r rune) rune {
	switch r {
	case '\u2044', '\u2215', '\u29F8', '\u2571', '\u27CB':
		return '/'
	case '\u2216', '\u29F5', '\u29F9', '\u27CD', '\u2572':
		return '\\'
	}
	return r
}
