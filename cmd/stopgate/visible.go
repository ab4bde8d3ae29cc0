package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible makes text that a model, tool or client wrote safe to print: every
// character that is not printable, or that could reorder or hide others, is shown
// as an escape, never stripped (THREATS H14).
func visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !unicode.IsPrint(r) || unicode.In(r, unicode.Bidi_Control, unicode.Variation_Selector):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// elide shortens a long text in the middle and says how much is missing.
func elide(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width+len(" 000 more ") {
		return s
	}
	gap := fmt.Sprintf(" … %d more … ", len(runes)-width)
	head := width * 2 / 3
	return string(runes[:head]) + gap + string(runes[len(runes)-(width-head):])
}
