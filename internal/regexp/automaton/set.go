package automaton

import (
	"slices"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/regexp/ucd"
)

// Span is a range of code points, both ends included.
type Span struct{ Low, High rune }

// Set is a set of code points: sorted spans that do not touch. It is never
// changed once it is in use.
type Set []Span

// Any is the set of all code points.
var Any = Set{{0, utf8.MaxRune}}

// Single is the set of one code point.
func Single(r rune) Set { return Set{{r, r}} }

func (s Set) single() bool { return len(s) == 1 && s[0].Low == s[0].High }

// Ranges is the set of the ranges that pairs of bounds give, both included.
func Ranges(bounds ...rune) Set {
	var spans []Span
	for i := 0; i+1 < len(bounds); i += 2 {
		spans = append(spans, Span{bounds[i], bounds[i+1]})
	}
	return Of(spans)
}

// Of is the set of the spans, in any order. It keeps the slice.
func Of(spans []Span) Set {
	byLow := func(a, b Span) int { return int(a.Low) - int(b.Low) }
	if !slices.IsSortedFunc(spans, byLow) {
		slices.SortFunc(spans, byLow)
	}
	set := Set(spans[:0])
	for _, s := range spans {
		if last := len(set) - 1; last >= 0 && s.Low <= set[last].High+1 {
			set[last].High = max(set[last].High, s.High)
			continue
		}
		set = append(set, s)
	}
	return set
}

// Contains reports whether r is a member.
func (s Set) Contains(r rune) bool {
	_, found := slices.BinarySearchFunc(s, r, func(sp Span, r rune) int {
		switch {
		case sp.High < r:
			return -1
		case sp.Low > r:
			return 1
		}
		return 0
	})
	return found
}

// Complement returns all other code points.
func (s Set) Complement() Set {
	var out Set
	next := rune(0)
	for _, sp := range s {
		if sp.Low > next {
			out = append(out, Span{next, sp.Low - 1})
		}
		next = sp.High + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, Span{next, utf8.MaxRune})
	}
	return out
}

// Union returns the members of either set.
func (s Set) Union(t Set) Set { return Of(append(slices.Clone(s), t...)) }

// Intersect returns the members of both sets.
func (s Set) Intersect(t Set) Set {
	return s.Complement().Union(t.Complement()).Complement()
}

// Minus returns the members that are not in t.
func (s Set) Minus(t Set) Set { return s.Complement().Union(t).Complement() }

// meets reports whether the sets have a member in common.
func (s Set) meets(t Set) bool {
	for i, j := 0, 0; i < len(s) && j < len(t); {
		switch {
		case s[i].High < t[j].Low:
			i++
		case t[j].High < s[i].Low:
			j++
		default:
			return true
		}
	}
	return false
}

// lowerASCII has the lower-case letter for each upper-case one of ASCII.
func (s Set) lowerASCII() Set {
	upper := s.Intersect(Ranges('A', 'Z'))
	if len(upper) == 0 {
		return s
	}
	out := s.Minus(Ranges('A', 'Z'))
	for _, sp := range upper {
		out = append(out, Span{sp.Low + 'a' - 'A', sp.High + 'a' - 'A'})
	}
	return Of(out)
}

// Folded adds, for every member, the code points that differ from it in case
// only.
func (s Set) Folded() Set {
	const few = 512
	out := slices.Clone(s)
	size := 0
	for _, sp := range s {
		size += int(sp.High-sp.Low) + 1
	}
	if size <= few {
		for _, sp := range s {
			for c := sp.Low; c <= sp.High; c++ {
				for o := ucd.Fold(c); o != c; o = ucd.Fold(o) {
					out = append(out, Span{o, o})
				}
			}
		}
		return Of(out)
	}
	for c := range ucd.Folding() {
		for o := ucd.Fold(c); o != c; o = ucd.Fold(o) {
			if s.Contains(o) {
				out = append(out, Span{c, c})
				break
			}
		}
	}
	return Of(out)
}
