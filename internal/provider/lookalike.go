package provider

import (
	"strings"
	"unicode"
)

// IsLookalike reports whether key differs from all names and folds to one of them:
// `Tool_Calls` for `tool_calls`, or a name with invisible characters or a NUL suffix. The
// gate compares names exactly. A client that decodes into structs may fold case, or stop
// reading at a NUL, and would find a call that was not evaluated. Codecs therefore remove
// such members (A4, A6).
func IsLookalike(key []byte, names ...string) bool {
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
	for _, name := range names {
		if string(key) == name {
			return false
		}
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
