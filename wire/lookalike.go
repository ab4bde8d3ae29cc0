package wire

import "strings"

// Lookalike reports whether a member's name is not one of the names but folds to
// one: `Tool_Calls` beside `tool_calls`. Lookups here are exact (WIRE 1.1 rule
// 9), but a client that decodes into structs may fold case and would find a call
// that nobody judged, so a codec cuts such a member out of what it forwards.
func Lookalike(key []byte, names ...string) bool {
	plain := true
	for _, c := range key {
		if c >= 0x80 || 'A' <= c && c <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return false
	}
	for _, name := range names {
		if strings.EqualFold(string(key), name) {
			return true
		}
	}
	return false
}
