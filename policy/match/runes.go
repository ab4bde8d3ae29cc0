package match

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// span is a range of code points, both ends included.
type span struct{ low, high rune }

// runeSet is a sorted list of spans that do not touch.
type runeSet []span

func single(r rune) runeSet { return runeSet{{r, r}} }

var (
	anyRune  = runeSet{{0, utf8.MaxRune}}
	notSlash = single('/').union(single(rootMark)).complement() // what a component is made of

	// zeroWidth is what the second form of K21 leaves out.
	zeroWidth = runeSet{
		{0x00AD, 0x00AD}, {0x180E, 0x180E}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF},
	}
	// whiteSpace is Unicode's property White_Space, what the third form trims.
	whiteSpace = runeSet{
		{'\t', '\r'}, {' ', ' '}, {0x85, 0x85}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
	}
)

// newSet sorts and joins spans.
func newSet(spans []span) runeSet {
	slices.SortFunc(spans, func(a, b span) int { return int(a.low) - int(b.low) })
	var set runeSet
	for _, s := range spans {
		if last := len(set) - 1; last >= 0 && s.low <= set[last].high+1 {
			set[last].high = max(set[last].high, s.high)
			continue
		}
		set = append(set, s)
	}
	return set
}

func (s runeSet) contains(r rune) bool {
	_, found := slices.BinarySearchFunc(s, r, func(sp span, r rune) int {
		switch {
		case sp.high < r:
			return -1
		case sp.low > r:
			return 1
		}
		return 0
	})
	return found
}

func (s runeSet) complement() runeSet {
	var out runeSet
	next := rune(0)
	for _, sp := range s {
		if sp.low > next {
			out = append(out, span{next, sp.low - 1})
		}
		next = sp.high + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, span{next, utf8.MaxRune})
	}
	return out
}

func (s runeSet) union(t runeSet) runeSet { return newSet(append(slices.Clone(s), t...)) }

func (s runeSet) intersect(t runeSet) runeSet {
	return s.complement().union(t.complement()).complement()
}

func (s runeSet) minus(t runeSet) runeSet { return s.complement().union(t).complement() }

// folded adds, for every member, the code points that differ from it in case
// only, so that a folded text matches where the text itself would.
func (s runeSet) folded() runeSet {
	out := slices.Clone(s)
	for _, r := range unicode.CaseRanges {
		for c := rune(r.Lo); c <= rune(r.Hi); c++ {
			if !s.contains(c) {
				continue
			}
			for o := unicode.SimpleFold(c); o != c; o = unicode.SimpleFold(o) {
				out = append(out, span{o, o})
			}
		}
	}
	return newSet(out)
}

// fold brings a text into the form in which restrictive conditions compare:
// compatibility-normalised and without case (C6, C7). ASCII takes no allocation
// if it has no upper case.
func fold(text string) string {
	ascii, lower := true, true
	for i := 0; i < len(text); i++ {
		ascii = ascii && text[i] < utf8.RuneSelf
		lower = lower && (text[i] < 'A' || text[i] > 'Z')
	}
	if ascii && lower {
		return text
	}
	if ascii {
		b := []byte(text)
		for i, c := range b {
			b[i] = lowerASCII(c)
		}
		return string(b)
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text)))
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
