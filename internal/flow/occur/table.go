package occur

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// table has what is asked most often of characters outside ASCII. Those below 0x600 are Latin, Greek,
// Cyrillic, Hebrew and others.
type table struct {
	class [0x600]runeClass
	// folded is the compatibility form without case, if that is one character. 0 is every other
	// one, such as combining marks.
	folded [0x600]uint16
	// unchanged is set for characters that are their own compatibility form, and that do not
	// combine with the one before.
	unchanged  [0x600]bool
	confusable [0x600]byte
	// confusables is the letter of ASCII that any character looks like.
	confusables map[rune]byte
}

// tables makes the table: texts in ASCII do not need it, so that it costs a program nothing at its
// start.
var tables = sync.OnceValue(func() *table {
	t := &table{confusables: confusables()}
	fold := cases.Fold()
	for i := range t.class {
		r := rune(i)
		t.class[i] = slowClass(r)
		t.confusable[i] = t.confusables[r]
		s := string(r)
		p := norm.NFKC.PropertiesString(s)
		t.unchanged[i] = norm.NFKC.IsNormalString(s) && p.BoundaryBefore() && p.CCC() == 0
		if 0x300 <= r && r < 0x370 {
			continue
		}
		s = norm.NFKC.String(fold.String(norm.NFKC.String(s)))
		if one, size := utf8.DecodeRuneInString(s); size == len(s) && one < 0xFFFF {
			t.folded[i] = uint16(one)
		}
	}
	return t
})
