package glob

import "strings"

// Beginning returns the text before the first character of a glob with a meaning, which every text
// that the glob matches begins with, and the rest of the glob. A letter outside of ASCII ends it too:
// a text may be compared in another normal form.
func Beginning(text string) (literal, rest string) {
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || strings.IndexByte(`*?[{}\!`, c) >= 0 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// Plain reports whether a glob consists of ASCII letters, "*" and "?" only, so that each of its
// characters is one token.
func Plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || strings.IndexByte(`[{}\!`, c) >= 0 {
			return false
		}
	}
	return true
}

// PlainPath reports whether a glob is plain and certainly valid on paths, relative or absolute: each
// component is a name, and "**" is a complete one. It returns false for some valid globs.
func PlainPath(text string) bool {
	rest := strings.TrimPrefix(text, "/")
	if !Plain(text) || rest == "" || strings.HasPrefix(rest, "~") {
		return false
	}
	for name := range strings.SplitSeq(rest, "/") {
		if name == "" || name == "." || name == ".." || name != "**" && strings.Contains(name, "**") {
			return false
		}
	}
	return true
}
