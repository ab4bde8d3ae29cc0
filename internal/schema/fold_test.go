package schema_test

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/schema"
)

// Proves I9, A6: invisible characters in a name, or characters that end it for some parsers, do not
// make it a different name; visible ones do.
func TestFoldHidden(t *testing.T) {
	want := schema.Fold([]byte("path"))
	for r, hidden := range map[rune]bool{
		0: true, 1: true, 0x1F: true, ' ': false, 0x7F: true, 0xAD: true, 0x180E: true, 0xFEFF: true,
		0x200A: false, 0x200B: true, 0x200F: true, 0x2010: false, 0x2029: false, 0x202A: true, 0x202E: true, 0x2030: false,
		0x205F: false, 0x2060: true, 0x2064: true, 0x2065: false, 0x2066: true, 0x2069: true, '-': false, 'x': false,
	} {
		for _, name := range []string{"pa" + string(r) + "th", string(r) + "path", "path" + string(r)} {
			if same := schema.Fold([]byte(name)) == want; same != hidden {
				t.Errorf("%U in %+q: the same name %t, want %t", r, name, same, hidden)
			}
		}
	}
}

// Proves A5, A25, I9: over all of Unicode, all cases and normal forms of a character fold to the
// same, and folding is idempotent.
func TestFoldAllOfUnicode(t *testing.T) {
	fold := func(s string) string { return schema.Fold([]byte(s)) }
	failed, last := 0, unicode.MaxRune
	if testing.Short() {
		last = 0x1FFFF // few forms and no case above
	}
	for r := rune(0x80); r <= last && failed < 10; r++ {
		if r == 0xD800 {
			r = 0xE000
		}
		s := string(r)
		variants := []string{norm.NFC.String(s), norm.NFD.String(s), norm.NFKC.String(s), norm.NFKD.String(s)}
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			variants = append(variants, string(next))
		}
		if len(variants) == 4 && variants[0] == s && variants[1] == s && variants[2] == s && variants[3] == s && r%64 != 0 {
			continue // no other forms
		}
		// In a name, next to a letter: marks compose with it.
		for _, context := range [][2]string{{"", ""}, {"a", "b"}} {
			want := fold(context[0] + s + context[1])
			if second := fold(want); second != want {
				t.Errorf("%U folds to %+q, then to %+q", r, want, second)
				failed++
			}
			for _, v := range variants {
				if got := fold(context[0] + v + context[1]); got != want {
					t.Errorf("%U folds to %+q, its variant %+q to %+q", r, want, v, got)
					failed++
				}
			}
		}
	}
}
