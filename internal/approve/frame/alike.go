package frame

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lookalikes are scripts with letters that look like Latin ones.
var lookalikes = map[string]*unicode.RangeTable{
	"Armenian": unicode.Armenian, "Cherokee": unicode.Cherokee, "Coptic": unicode.Coptic, "Cyrillic": unicode.Cyrillic, "Greek": unicode.Greek, "Lisu": unicode.Lisu,
}

// alike names the first character that looks like an ASCII one, or returns "": a letter of another
// script in a word with Latin letters, or a compatibility form of an ASCII character.
func alike(text string) string {
	latin, odd, script := false, rune(0), ""
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && !unicode.IsLetter(r):
			latin, odd = false, 0 // end of a word
		case unicode.Is(unicode.Latin, r) && r < 0xff00:
			latin = true
		case r >= utf8.RuneSelf && isASCII(norm.NFKC.String(string(r))):
			return fmt.Sprintf("%c is U+%04X, not %s", r, r, norm.NFKC.String(string(r)))
		case odd == 0:
			for name, table := range lookalikes {
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

// isASCII reports whether s is one ASCII character.
func isASCII(s string) bool { return len(s) == 1 && s[0] < utf8.RuneSelf }
