// Package visible escapes text that a model, a tool or a client wrote, so that a person sees all of
// it: escaping is injective, and no printed character moves, colours or hides other text (H14).
package visible

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// invisible are the printable characters that have no glyph or move other characters.
var invisible = []*unicode.RangeTable{
	unicode.Bidi_Control, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
	{R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}}}, // the empty Braille pattern
}

// Hidden reports whether a character has no glyph, or moves or hides other characters. Combining
// marks of all scripts are hidden, because they can strike out a letter; those of one script are not.
func Hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.In(r, invisible...) || unicode.IsMark(r) && unicode.Is(unicode.Inherited, r)
}

// Text makes a text one line that is safe to print: every character that is not
// printable, or that could reorder or hide others, is shown as an escape, never
// stripped.
func Text(s string) string {
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
		case Hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// Elide shortens a long text in the middle and shows the number of omitted characters.
func Elide(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width+len(" 000 more ") {
		return s
	}
	gap := fmt.Sprintf(" … %d more … ", len(runes)-width)
	head := width * 2 / 3
	return string(runes[:head]) + gap + string(runes[len(runes)-(width-head):])
}

// Part shows one of several parts of a text: "2 of 3: rm -rf x", or "2 of 3" if its text is
// not known.
func Part(index, of int, text string) string {
	where := strconv.Itoa(index+1) + " of " + strconv.Itoa(of)
	if text == "" {
		return where
	}
	return where + ": " + Text(Elide(text, maxPart))
}

// maxPart is how much of a part is shown.
const maxPart = 200

// ShellWord writes a word so that it can be pasted into a shell.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r == '/' || r == '.' || r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if s != "" && s[0] != '-' && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	if Text(s) != s {
		// A quoted escape would name another file; $'...' names this one.
		var b strings.Builder
		for i := range len(s) {
			if c := s[i]; c < 0x20 || c >= 0x7f || c == '\'' || c == '\\' {
				fmt.Fprintf(&b, `\x%02x`, c)
			} else {
				b.WriteByte(c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Lines makes a text that may have lines of its own safe to print; they are
// indented, so that none of them passes for another message.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(Text(line), `\\`, `\`)
	}
	return strings.Join(lines, "\n  ")
}
