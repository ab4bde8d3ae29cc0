package script

import (
	"iter"
	"unicode/utf8"
)

// Pieces cuts text as a model streams it: into tokens of one to about eight bytes (a word with the
// space before it, up to three digits, a line break with its indentation, one or two signs), and
// the given number of tokens per chunk. Chunks consist of complete code points, but a chunk may end
// within a JSON escape.
func Pieces(text string, tokens int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start := 0; start < len(text); {
			end := start
			for range tokens {
				end += tokenLen(text[end:])
			}
			if !yield(text[start:end]) {
				return
			}
			start = end
		}
	}
}

// Maximum lengths of one token.
const (
	maxLetters = 7
	maxDigits  = 3
	maxSigns   = 2
	maxBlanks  = 9
)

// tokenLen returns the length of the first token of text, 0 for no text.
func tokenLen(text string) int {
	if text == "" {
		return 0
	}
	if n := run(text, blank, maxBlanks); n > 1 || n == 1 && (len(text) == 1 || !letter(text[1])) {
		return n
	}
	space := run(text, blank, 1)
	rest := text[space:]
	for _, kind := range []struct {
		is  func(byte) bool
		max int
	}{{letter, maxLetters}, {digit, maxDigits}, {sign, maxSigns}} {
		if n := run(rest, kind.is, kind.max); n > 0 {
			return space + n
		}
	}
	_, n := utf8.DecodeRuneInString(rest)
	return space + n
}

func run(text string, is func(byte) bool, most int) int {
	n := 0
	for n < len(text) && n < most && is(text[n]) {
		n++
	}
	return n
}

func blank(c byte) bool  { return c == ' ' || c == '\n' || c == '\t' }
func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }
func sign(c byte) bool   { return c > ' ' && c < 0x7f && !letter(c) && !digit(c) }
