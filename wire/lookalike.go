package wire

import (
	"strings"
	"unicode"
)

// Lookalike reports whether a member's name is not one of the names but folds to
// one: `Tool_Calls` beside `tool_calls`, or one with characters that nobody sees or
// behind a NUL. Lookups here are exact (WIRE 1.1 rule 9), but a client that decodes into
// structs may fold case, or read to the NUL, and would find a call that nobody judged, so
// a codec cuts such a member out of what it forwards (A4, A6).
func Lookalike(key []byte, names ...string) bool {
	plain := true
	for _, c := range key {
		if c >= 0x7f || c <= ' ' || 'A' <= c && c <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return false
	}
	text, _, _ := strings.Cut(string(key), "\x00")
	text = strings.Map(func(r rune) rune {
		if r <= ' ' || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Z) {
			return -1
		}
		return r
	}, text)
	for _, name := range names {
		if strings.EqualFold(text, name) {
			return true
		}
	}
	return false
}
