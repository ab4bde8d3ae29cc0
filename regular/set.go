package regular

import (
	"slices"
	"unicode"
)

// span is a range of code points, both ends included.
type span struct{ lo, hi rune }

// set is a set of code points: spans in order, neither overlapping nor adjacent.
// Surrogates may be in it; no valid UTF-8 text contains one.
type set []span

func single(r rune) set { return set{{r, r}} }

// normal sorts spans in any order into a set.
func normal(spans []span) set {
	byLow := func(a, b span) int { return int(a.lo) - int(b.lo) }
	if !slices.IsSortedFunc(spans, byLow) {
		slices.SortFunc(spans, byLow)
	}
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, s.hi)
			continue
		}
		out = append(out, s)
	}
	return set(out)
}

// union returns the code points of any of the sets.
func union(sets ...set) set { return normal(slices.Concat(sets...)) }

// negate returns all other code points.
func (s set) negate() set {
	var out set
	next := rune(0)
	for _, r := range s {
		if next < r.lo {
			out = append(out, span{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, span{next, unicode.MaxRune})
	}
	return out
}

// minus returns the code points of s that are not in t.
func (s set) minus(t set) set { return union(s.negate(), t).negate() }

func (s set) contains(r rune) bool {
	_, found := slices.BinarySearchFunc(s, r, func(x span, r rune) int {
		if x.hi < r {
			return -1
		}
		if x.lo > r {
			return 1
		}
		return 0
	})
	return found
}

// tables returns the code points of Unicode tables.
func tables(list ...*unicode.RangeTable) set {
	var spans []span
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			spans = append(spans, span{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			spans = append(spans, span{r, r})
		}
	}
	for _, t := range list {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return normal(spans)
}

// The sets that ECMA-262 names by an escape. They are functions so that no
// caller can change them.

func everything() set { return set{{0, unicode.MaxRune}} }

// digits is \d (ECMA-262 CharacterClassEscape).
func digits() set { return set{{'0', '9'}} }

// words is \w without the flag i: basicWordCharacters.
func words() set { return set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}} }

// spaces is \s: WhiteSpace and LineTerminator, that is TAB to CR, the category
// Zs, the byte order mark, and the two Unicode line ends.
func spaces() set {
	return union(set{{'\t', '\r'}, {0x2028, 0x2029}, {0xFEFF, 0xFEFF}}, tables(unicode.Zs))
}

// lineEnds are the code points that `.` does not match.
func lineEnds() set { return set{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}} }
