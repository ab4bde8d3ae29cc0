package source

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/flow/occur"
)

// visible returns what people see of a text, and the parts that they do not see.
func visible(text []byte) (seen []byte, hidden [][]byte) {
	if !hasMarkup(text) {
		return text, nil
	}
	parts := occur.Visible(text)
	if len(parts) == 1 && !parts[0].Hidden {
		return parts[0].Text, nil
	}
	for _, p := range parts {
		if p.Hidden {
			hidden = append(hidden, p.Text)
		} else {
			seen = append(append(seen, p.Text...), '\n')
		}
	}
	return seen, hidden
}

// hasMarkup reports whether a text may have hidden parts: it is not plain ASCII without tags.
func hasMarkup(text []byte) bool {
	for _, c := range text {
		if c == '<' || c == '&' || c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return true
		}
	}
	return false
}

// decoded returns a text with the escapes of JSON and Python in it as characters, nil if it has
// none. A model reads "\u0040" in a text that is no JSON, or in a string inside a string, as "@".
func decoded(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\`)) {
		return nil
	}
	out := make([]byte, 0, len(text))
	changed := false
	for i := 0; i < len(text); i++ {
		r, n := rune(0), 0
		if text[i] == '\\' && i+1 < len(text) {
			r, n = escape(text[i+1:])
		}
		if n == 0 {
			out = append(out, text[i])
			continue
		}
		out, changed = utf8.AppendRune(out, r), true
		i += n
	}
	if !changed {
		return nil
	}
	return out
}

// escape returns the character of an escape and its length without the backslash, 0 if it is none.
func escape(s []byte) (r rune, n int) {
	simple := []byte(`nrtbf/"'\`)
	if i := bytes.IndexByte(simple, s[0]); i >= 0 {
		return rune("\n\r\t\b\f/\"'\\"[i]), 1
	}
	digits := map[byte]int{'u': 4, 'x': 2, 'U': 8}[s[0]]
	if digits == 0 || len(s) < 1+digits || slices.Contains([]byte("+-_"), s[1]) {
		return 0, 0
	}
	v, err := strconv.ParseUint(string(s[1:1+digits]), 16, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, 0
	}
	return rune(v), 1 + digits // a surrogate becomes U+FFFD
}
