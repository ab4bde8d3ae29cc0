package match

import "unicode/utf8"

// automaton is a deterministic automaton over code points. State 0 is dead.
type automaton struct {
	ascii  [utf8.RuneSelf]uint16
	others []classSpan // code points above ASCII, sorted; those in no span have class 0
	rows   []row
	edges  []move // exceptions of all rows, sorted by class within a row
	fate   []Result
	accept []bool
	first  uint32
}

// classSpan gives a range of code points its class: code points of one class
// behave alike in every state.
type classSpan struct {
	span
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

func (a *automaton) class(r rune) uint16 {
	if r < utf8.RuneSelf {
		return a.ascii[r]
	}
	low, high := 0, len(a.others)
	for low < high {
		mid := int(uint(low+high) / 2)
		switch s := &a.others[mid]; {
		case r < s.low:
			high = mid
		case r > s.high:
			low = mid + 1
		default:
			return s.class
		}
	}
	return 0
}

func (a *automaton) step(state uint32, class uint16) uint32 {
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

// feed consumes whole code points and stops behind the one that decides.
func (a *automaton) feed(state uint32, text []byte) (uint32, int) {
	for i := 0; i < len(text); {
		c, size := uint16(0), 1
		if b := text[i]; b < utf8.RuneSelf {
			c = a.ascii[b]
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			c = a.class(r)
		}
		state = a.step(state, c)
		i += size
		if a.fate[state] != Undecided {
			return state, i
		}
	}
	return state, len(text)
}

// after returns the state after a text, which is consumed as long as it matters.
func (a *automaton) after(state uint32, text []byte) uint32 {
	if a.fate[state] == Undecided {
		state, _ = a.feed(state, text)
	}
	return state
}

// foldASCII makes upper case behave as lower case. The literals are folded.
func (a *automaton) foldASCII() {
	for c := 'A'; c <= 'Z'; c++ {
		a.ascii[c] = a.ascii[lowerASCII(byte(c))]
	}
}
