package regular

// op is the kind of a node of the syntax tree.
type op uint8

const (
	opClass         op = iota + 1 // one code point of a set; the empty set never matches
	opConcat                      // its parts in order; no parts match the empty text
	opAlternate                   // any of its parts
	opRepeat                      // its part, min to max times
	opGroup                       // its part; capturing groups have an index
	opStart                       // ^
	opEnd                         // $
	opBoundary                    // \b
	opNotBoundary                 // \B
	opLook                        // lookaround over its part
	opBackreference               // \1, \k<name>
	opStates                      // an automaton whose arcs are its parts
)

// unlimited is the max of a repetition without an upper count.
const unlimited = -1

// node is one part of a pattern. The tree covers the whole syntax of ECMA-262's
// u mode; unsupported constructs are refused from the tree, with their offset.
// Languages are trees too, which are never changed once they are made.
// Greedy and lazy repetitions are the same: they match the same texts.
type node struct {
	op   op
	at   int // offset of the part in the pattern
	subs []*node

	set      set // opClass; opBoundary, opNotBoundary: the characters of words
	min, max int // opRepeat; opStates: max is the number of states
	// lines is set for an anchor that holds at the ends of lines too (modifier m).
	lines bool
	// behind and negative describe a lookaround.
	behind, negative bool
	// skip are code points that are passed over wherever the part reads one.
	skip set
	arcs []arc // opStates, one for each part
}

// arc leads from a state to another through a part, or out of the automaton, to
// the state after the last.
type arc struct{ from, to int }

// anchored reports whether every match of n passes the assertion, ^ or $. If it
// does, the match reaches to that end of the text, wherever the assertion is.
func (n *node) anchored(assertion op) bool {
	switch n.op {
	case assertion:
		return !n.lines
	case opClass:
		return len(n.set) == 0 // never matches
	case opRepeat:
		return n.min > 0 && n.subs[0].anchored(assertion)
	case opConcat, opGroup:
		for _, sub := range n.subs {
			if sub.anchored(assertion) {
				return true
			}
		}
	case opAlternate:
		for _, sub := range n.subs {
			if !sub.anchored(assertion) {
				return false
			}
		}
		return true
	}
	return false
}
