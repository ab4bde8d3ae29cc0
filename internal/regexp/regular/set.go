package regular

import (
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// span is a range of code points, both ends included.
type span = automaton.Span

// set is a set of code points. Surrogates may be in it; no text contains one.
type set = automaton.Set

func single(r rune) set { return automaton.Single(r) }

// union returns the code points of any of the sets.
func union(sets ...set) set { return automaton.Of(slices.Concat(sets...)) }

// The sets that ECMA-262 names by an escape. They are functions so that no
// caller can change them.

func everything() set { return automaton.Any }

// digits is \d (ECMA-262 CharacterClassEscape).
func digits() set { return automaton.Ranges('0', '9') }

// words is \w without the flag i: basicWordCharacters.
func words() set { return automaton.Ranges('0', '9', 'A', 'Z', '_', '_', 'a', 'z') }

// spaces is \s: WhiteSpace and LineTerminator, that is TAB to CR, the category
// Zs, the byte order mark, and the two Unicode line ends.
func spaces() set {
	return union(automaton.Ranges('\t', '\r', 0x2028, 0x2029, 0xFEFF, 0xFEFF), table("gc=Space_Separator"))
}

// lineEnds are the code points that `.` does not match.
func lineEnds() set { return automaton.Ranges('\n', '\n', '\r', '\r', 0x2028, 0x2029) }
