package automaton

import "unicode/utf8"

// Included decides whether every text of l that is in the domain is in e; a nil
// domain holds all texts. proven is false if the question is too large.
func Included(l, e, domain *DFA) (yes, proven bool) {
	const limit = 1 << 20
	type triple struct{ l, e, d uint32 }
	points := representatives(l, e, domain)
	start := triple{l: l.first, e: e.first}
	if domain != nil {
		start.d = domain.first
	}
	seen := map[triple]bool{start: true}
	for todo := []triple{start}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if l.accept[at.l] && !e.accept[at.e] && (domain == nil || domain.accept[at.d]) {
			return false, true
		}
		if len(seen) > limit {
			return false, false // bounds memory; no pair of globs in the tests gets here
		}
		for _, r := range points {
			next := triple{l.step(at.l, l.class(r)), e.step(at.e, e.class(r)), 0}
			if domain != nil {
				next.d = domain.step(at.d, domain.class(r))
			}
			dead := l.fate[next.l] == Rejects || e.fate[next.e] == Accepts || domain != nil && domain.fate[next.d] == Rejects
			if !dead && !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return true, true
}

// representatives returns one code point of every joint class of the automata.
func representatives(automata ...*DFA) []rune {
	candidates := []rune{}
	for r := range rune(0x80) {
		candidates = append(candidates, r)
	}
	for _, a := range automata {
		if a == nil {
			continue
		}
		for _, s := range a.others {
			candidates = append(candidates, s.Low, min(s.High+1, 0x10FFFF))
		}
	}
	candidates = append(candidates, 0x80)
	seen := map[string]bool{}
	var out []rune
	for _, r := range candidates {
		var key []byte
		for _, a := range automata {
			if a != nil {
				c := a.class(r)
				key = append(key, byte(c), byte(c>>8))
			}
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			out = append(out, r)
		}
	}
	return out
}

// Meets reports whether some text that leads the automaton from a state to
// acceptance is in the set of a direct NFA. It gives up towards true.
func (a *DFA) Meets(from uint32, n *NFA) bool {
	const limit = 1 << 18
	classes := make([]classSet, len(n.sets))
	for i, s := range n.sets {
		classes[i] = a.classesOf(s)
	}
	type pair struct {
		a uint32
		n int
	}
	seen := newPairSet(len(a.rows), len(n.states))
	seen.add(from, 0)
	todo := []pair{{from, 0}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n.states[p.n].accept && a.accept[p.a] || seen.n > limit {
			return true
		}
		row := &a.rows[p.a]
		for _, e := range n.states[p.n].edges {
			set, excepted := &classes[e.set], 0
			for _, m := range a.edges[row.from:row.to] {
				if !set.has(m.class) {
					continue
				}
				excepted++
				if a.fate[m.next] != Rejects && seen.add(m.next, e.to) {
					todo = append(todo, pair{m.next, e.to})
				}
			}
			if excepted < set.n && a.fate[row.other] != Rejects && seen.add(row.other, e.to) {
				todo = append(todo, pair{row.other, e.to})
			}
		}
	}
	return false
}

// pairSet is a set of pairs of a state of one automaton and a state of another one.
type pairSet struct {
	n     int // of its pairs
	width int
	dense []uint64 // bits, if there are not too many
	other map[uint64]bool
}

// maxPairs bounds the pairs of which each has a bit.
const maxPairs = 1 << 20

func newPairSet(first, second int) pairSet {
	if first*second > maxPairs {
		return pairSet{width: second, other: make(map[uint64]bool)}
	}
	return pairSet{width: second, dense: make([]uint64, (first*second+63)/64)}
}

// add adds a pair and reports whether it is new.
func (s *pairSet) add(a uint32, n int) bool {
	at := uint64(a)*uint64(s.width) + uint64(n)
	if s.dense == nil {
		if s.other[at] {
			return false
		}
		s.other[at] = true
	} else {
		if s.dense[at/64]&(1<<(at%64)) != 0 {
			return false
		}
		s.dense[at/64] |= 1 << (at % 64)
	}
	s.n++
	return true
}

// Meets reports whether some text of the set of a direct NFA, after a prefix, is in this
// set, as [DFA.Meets] does without an automaton that takes long to make: both are walked
// together. With fold the ASCII letters of n are read in lower case.
func (s *NFA) Meets(prefix string, n *NFA, fold bool) bool {
	const limit = 1 << 18
	common := make([]int8, len(s.sets)*len(n.sets)) // 1: the two sets have a member in common, -1: none
	meet := func(a, b int) bool {
		at := &common[a*len(n.sets)+b]
		if *at == 0 {
			theirs := n.sets[b]
			if fold {
				theirs = theirs.lowerASCII()
			}
			*at = -1
			if s.sets[a].meets(theirs) {
				*at = 1
			}
		}
		return *at > 0
	}
	type pair struct{ s, n int }
	seen := map[pair]bool{}
	var todo []pair
	for _, at := range s.after(prefix) {
		seen[pair{at, 0}] = true
		todo = append(todo, pair{at, 0})
	}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.states[p.s].accept && n.states[p.n].accept || len(seen) > limit {
			return true
		}
		for _, theirs := range n.states[p.n].edges {
			for _, ours := range s.states[p.s].edges {
				q := pair{ours.to, theirs.to}
				if !seen[q] && meet(ours.set, theirs.set) {
					seen[q] = true
					todo = append(todo, q)
				}
			}
		}
	}
	return false
}

// classSet is a set of classes of code points.
type classSet struct {
	bits []uint64
	n    int // of its classes
}

func (s *classSet) has(class uint16) bool {
	return int(class/64) < len(s.bits) && s.bits[class/64]&(1<<(class%64)) != 0
}

func (s *classSet) add(class uint16) {
	for int(class/64) >= len(s.bits) {
		s.bits = append(s.bits, 0)
	}
	if !s.has(class) {
		s.bits[class/64] |= 1 << (class % 64)
		s.n++
	}
}

// classesOf returns the classes that have a member in s; class 0 whenever it
// might.
func (a *DFA) classesOf(s Set) (classes classSet) {
	if s.single() {
		classes.add(a.class(s[0].Low))
		return classes
	}
	classes.add(0)
	for _, span := range s {
		for r := span.Low; r <= min(span.High, utf8.RuneSelf-1); r++ {
			classes.add(a.ascii[r])
		}
	}
	at := 0 // the spans of both are sorted
	for _, o := range a.others {
		for at < len(s) && s[at].High < o.Low {
			at++
		}
		if at < len(s) && s[at].Low <= o.High {
			classes.add(o.class)
		}
	}
	return classes
}
