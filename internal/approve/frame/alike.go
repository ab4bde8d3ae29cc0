package frame

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// others are scripts with letters that look like Latin ones.
var others = map[string]*unicode.RangeTable{
	"Armenian": unicode.Armenian, "Cherokee": unicode.Cherokee, "Coptic": unicode.Coptic, "Cyrillic": unicode.Cyrillic, "Greek": unicode.Greek, "Lisu": unicode.Lisu,
}

// alike names the first character that passes for an ASCII one: a letter of another script
// in a word with Latin letters, or a character that is another form of an ASCII one. ""
// if there is none.
func alike(text string) string {
	latin, odd, script := false, rune(0), ""
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && !unicode.IsLetter(r):
			latin, odd = false, 0 // a word ends
		case unicode.Is(unicode.Latin, r) && r < 0xff00:
			latin = true
		case r >= utf8.RuneSelf && isASCII(norm.NFKC.String(string(r))):
			return fmt.Sprintf("%c is U+%04X, not %s", r, r, norm.NFKC.String(string(r)))
		case odd == 0:
			for name, table := range others {
				if unicode.Is(table, r) {
					odd, script = r, name
				}
			}
		}
		if latin && odd != 0 {
			return fmt.Sprintf("%c is a %s letter, U+%04X", odd, script, odd)
		}
	}
	return ""
}

// isASCII reports a text of one ASCII character.
func isASCII(s string) bool { return len(s) == 1 && s[0] < utf8.RuneSelf }
