package automaton

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"
)

// maxStates bounds a DFA. Literals stay far below it; several loops before long
// runs of wide sets may not.
const maxStates = 1 << 15

// maxWork bounds the construction of a DFA, in edges of the NFA that its states follow together. A
// set of literals follows every edge once.
const maxWork = 1 << 21

// determinise builds the DFA of a direct NFA, nil if it would be too large.
func (n *NFA) determinise() *DFA {
	n = n.reduce()
	spans, classes, of, rest := n.classes()
	if classes > math.MaxUint16 {
		return nil
	}
	a := &DFA{}
	for _, s := range spans {
		for r := s.Low; r <= s.High && r < utf8.RuneSelf; r++ {
			a.ascii[r] = s.class
		}
		if s.High >= utf8.RuneSelf {
			a.others = append(a.others, s)
		}
	}
	b := subsets{ids: make(map[string]uint32, 2*len(n.states)), sets: make([][]int, 1, 2*len(n.states)), covers: n.coverings()}
	a.first = b.id([]int{0})
	limit, work := max(maxStates, 8*len(n.states)), max(maxWork, 8*n.edgeCount())
	w := newSplitter(of, classes)
	next := make([]uint32, classes)
	for at := 0; at < len(b.sets); at++ {
		if len(b.sets) > limit || work < 0 {
			return nil
		}
		accept := false
		w.reset()
		for _, s := range b.sets[at] {
			work -= len(n.states[s].edges)
			accept = accept || n.states[s].accept
			for _, e := range n.states[s].edges {
				w.add(e)
			}
		}
		w.targets(&b, next)
		if !rest { // no code point has class 0
			next[0] = next[1]
		}
		a.accept = append(a.accept, accept)
		a.addRow(next)
	}
	a.settle()
	a.spread(classes)
	return a
}

// subsets numbers sets of states; the empty set is 0.
type subsets struct {
	ids    map[string]uint32
	sets   [][]int
	covers []covering
	key    []byte
	room   []int // for the elements of sets
	kept   []int
}

// id numbers a sorted set, which is copied if it is new.
func (b *subsets) id(set []int) uint32 {
	set = b.withoutCovered(set)
	if len(set) == 0 {
		return 0
	}
	b.key = b.key[:0]
	for _, s := range set {
		b.key = binary.LittleEndian.AppendUint32(b.key, uint32(s))
	}
	at, ok := b.ids[string(b.key)]
	if !ok {
		at = uint32(len(b.sets))
		b.ids[string(b.key)] = at
		if cap(b.room)-len(b.room) < len(set) {
			b.room = make([]int, 0, min(max(64, 2*cap(b.room)), 4096)+len(set))
		}
		b.room = append(b.room, set...)
		b.sets = append(b.sets, b.room[len(b.room)-len(set):])
	}
	return at
}

// addRow stores where each class leads: the most frequent target once, the
// others as exceptions.
func (a *DFA) addRow(next []uint32) {
	other := mostFrequent(next)
	r := row{from: uint32(len(a.edges)), other: other}
	for class, to := range next {
		if to != other {
			a.edges = append(a.edges, move{uint16(class), to})
		}
	}
	r.to = uint32(len(a.edges))
	a.rows = append(a.rows, r)
}

// mostFrequent returns the target of most classes; it is nearly always the dead
// state of literals or the state of a star, and both lead from class 0.
func mostFrequent(next []uint32) uint32 {
	first := 0
	for _, to := range next {
		if to == next[0] {
			first++
		}
	}
	if 2*first >= len(next) {
		return next[0]
	}
	sorted := slices.Sorted(slices.Values(next))
	best, most := next[0], first
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		if j-i > most {
			best, most = sorted[i], j-i
		}
		i = j
	}
	return best
}

// settle finds the states whose answer no continuation changes.
func (a *DFA) settle() {
	before := a.before()
	canHit, canMiss := a.reaching(before, true), a.reaching(before, false)
	a.fate = make([]Fate, len(a.rows))
	for s := range a.fate {
		switch {
		case !canMiss[s]:
			a.fate[s] = Accepts
		case !canHit[s]:
			a.fate[s] = Rejects
		}
	}
}

// reaching returns the states from which one with the given acceptance can be
// reached.
func (a *DFA) reaching(before [][]uint32, accept bool) []bool {
	can := make([]bool, len(a.rows))
	var stack []uint32
	for s := range a.accept {
		if a.accept[s] == accept {
			can[s] = true
			stack = append(stack, uint32(s))
		}
	}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, b := range before[s] {
			if !can[b] {
				can[b] = true
				stack = append(stack, b)
			}
		}
	}
	return can
}
