package tomltree

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Key spells one segment of a key, bare if possible.
func Key(key string) string {
	bare := key != ""
	for i := range len(key) {
		c := key[i]
		bare = bare && ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	}
	if bare {
		return key
	}
	return Quote(key)
}

// Path spells a dotted key.
func Path(keys []string) string {
	spelled := make([]string, len(keys))
	for i, k := range keys {
		spelled[i] = Key(k)
	}
	return strings.Join(spelled, ".")
}

// Quote spells a string: as a literal string if that saves escapes, else as a basic string with
// escapes for every invisible code point.
func Quote(text string) string {
	if plain(text) {
		return `"` + text + `"`
	}
	literal := strings.ContainsAny(text, `"\`) && !strings.Contains(text, "'")
	for _, r := range text {
		literal = literal && shows(r)
	}
	if literal && utf8.ValidString(text) {
		return "'" + text + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case shows(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plain reports whether a text is printable ASCII that needs no escapes, as nearly all are.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// shows reports whether a code point is visible.
func shows(r rune) bool { return unicode.IsPrint(r) || unicode.In(r, unicode.Mn, unicode.Me) }

// spell writes a value without elements. A string over several lines keeps its own spelling, since
// its author chose the line breaks.
func spell(v *Value) string {
	if v.Kind != String {
		return v.Text
	}
	raw := v.doc.Text[v.Range.Start.Offset:v.Range.End.Offset]
	if bytes.HasPrefix(raw, []byte(`"""`)) || bytes.HasPrefix(raw, []byte("'''")) {
		return strings.ReplaceAll(string(raw), "\r\n", "\n")
	}
	return Quote(v.Text)
}
