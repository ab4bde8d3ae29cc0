package automaton

import (
	"sync"
	"unicode/utf8"
)

// Fate is the answer that all continuations of a text share, if they do. The zero Fate
// is Open.
type Fate uint8

// A decided state stays decided.
const (
	Open    Fate = iota
	Accepts      // every continuation is in the set
	Rejects      // none is
)

// DFA is a deterministic automaton over code points. State 0 is dead.
type DFA struct {
	// dense is the table of a small DFA: a row of width entries for each state, where
	// each class leads: the place of that state's row, shifted left by one, and the
	// lowest bit set if the state is decided.
	dense  []uint32
	width  uint32
	ascii  [utf8.RuneSelf]uint16
	others []classSpan // code points above ASCII, sorted; those in no span have class 0
	rows   []row
	edges  []move // exceptions of all rows, sorted by class within a row
	fate   []Fate
	accept []bool
	first  uint32

	measure   sync.Once
	distances []int32 // see Distance
}

// classSpan gives a range of code points its class: code points of one class
// behave alike in every state.
type classSpan struct {
	Span
	class uint16
}

// row is one state: where the classes listed in edges[from:to] lead, and where
// all others do.
type row struct {
	from, to uint32
	other    uint32
}

type move struct {
	class uint16
	next  uint32
}

func (a *DFA) class(r rune) uint16 {
	if r < utf8.RuneSelf {
		return a.ascii[r]
	}
	low, high := 0, len(a.others)
	for low < high {
		mid := int(uint(low+high) / 2)
		switch s := &a.others[mid]; {
		case r < s.Low:
			high = mid
		case r > s.High:
			low = mid + 1
		default:
			return s.class
		}
	}
	return 0
}

func (a *DFA) step(state uint32, class uint16) uint32 {
	row := &a.rows[state]
	edges := a.edges[row.from:row.to]
	for len(edges) > 8 {
		mid := len(edges) / 2
		if edges[mid].class <= class {
			edges = edges[mid:]
		} else {
			edges = edges[:mid]
		}
	}
	for i := range edges {
		if edges[i].class == class {
			return edges[i].next
		}
	}
	return row.other
}

// maxDense bounds the table of an automaton, in entries.
const maxDense = 1 << 17

// spread writes the table, if it is small enough.
func (a *DFA) spread(classes int) {
	if len(a.rows)*classes > maxDense {
		return
	}
	a.width = uint32(classes)
	a.dense = make([]uint32, len(a.rows)*classes)
	entry := func(to uint32) uint32 {
		if a.fate[to] != Open {
			return to*a.width<<1 | 1
		}
		return to * a.width << 1
	}
	for s, row := range a.rows {
		table := a.dense[s*classes:][:classes]
		other := entry(row.other)
		for c := range table {
			table[c] = other
		}
		for _, m := range a.edges[row.from:row.to] {
			table[m.class] = entry(m.next)
		}
	}
}

// First returns the state before any text.
func (a *DFA) First() uint32 { return a.first }

// Fate returns the fate of a state.
func (a *DFA) Fate(state uint32) Fate { return a.fate[state] }

// Accepting reports whether a text that ends in a state is in the set.
func (a *DFA) Accepting(state uint32) bool { return a.accept[state] }

// Feed consumes whole code points from an undecided state and stops after the one
// that decides. It returns the state and the number of bytes read.
func (a *DFA) Feed(state uint32, text []byte) (uint32, int) {
	if a.dense == nil {
		return a.feedSparse(state, text)
	}
	dense, at := a.dense, state*a.width
	for i := 0; i < len(text); {
		class, size := uint16(0), 1
		if b := text[i]; b < utf8.RuneSelf {
			class = a.ascii[b]
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			class = a.class(r)
		}
		entry := dense[at+uint32(class)]
		at = entry >> 1
		i += size
		if entry&1 != 0 {
			return at / a.width, i
		}
	}
	return at / a.width, len(text)
}

func (a *DFA) feedSparse(state uint32, text []byte) (uint32, int) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		state = a.step(state, a.class(r))
		i += size
		if a.fate[state] != Open {
			return state, i
		}
	}
	return state, len(text)
}

// After returns the state after a text, which is read as far as it matters.
func (a *DFA) After(state uint32, text []byte) uint32 {
	if a.fate[state] == Open {
		state, _ = a.Feed(state, text)
	}
	return state
}

// FoldASCII makes ASCII upper case behave as lower case, for a set whose texts have
// none. It is called before the DFA is used.
func (a *DFA) FoldASCII() {
	for c := 'A'; c <= 'Z'; c++ {
		a.ascii[c] = a.ascii[c+'a'-'A']
	}
}
