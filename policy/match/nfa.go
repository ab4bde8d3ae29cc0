package match

import (
	"slices"
	"unicode/utf8"
)

// nfa is what conditions are built as: states with sets of code points on their
// edges, and free edges that consume nothing. State 0 is the start.
type nfa struct {
	states []nfaState
	sets   []runeSet
	known  map[rune]int     // sets of one code point
	same   map[*span]int    // other sets
	trie   map[trieEdge]int // literals that start at one state share their beginnings
	behind map[int]int      // see names
}

type nfaState struct {
	free   []int
	edges  []nfaEdge
	accept bool
}

type nfaEdge struct{ set, to int }

type trieEdge struct {
	from int
	r    rune
}

func newNFA() *nfa {
	return &nfa{known: make(map[rune]int), same: make(map[*span]int), trie: make(map[trieEdge]int), behind: make(map[int]int), states: make([]nfaState, 1)}
}

func (n *nfa) state() int {
	n.states = append(n.states, nfaState{})
	return len(n.states) - 1
}

func isSingle(s runeSet) bool { return len(s) == 1 && s[0].low == s[0].high }

// set numbers a set of code points. Sets of one are recognised by it, others by
// their memory: they are never changed.
func (n *nfa) set(s runeSet) int {
	at, ok := n.same[&s[0]]
	if isSingle(s) {
		at, ok = n.known[s[0].low]
	}
	if ok {
		return at
	}
	at = len(n.sets)
	n.sets = append(n.sets, s)
	if isSingle(s) {
		n.known[s[0].low] = at
	} else {
		n.same[&s[0]] = at
	}
	return at
}

// edge leads from a state to another on the members of a set.
func (n *nfa) edge(from int, s runeSet, to int) {
	if len(s) > 0 {
		n.states[from].edges = append(n.states[from].edges, nfaEdge{n.set(s), to})
	}
}

func (n *nfa) free(from, to int) { n.states[from].free = append(n.states[from].free, to) }

func (n *nfa) accept(at int) { n.states[at].accept = true }

// text adds literal code points behind from and returns where they end. The same
// text behind the same state ends in the same state, so that large lists share
// their beginnings; a state made here is reached by its text only.
func (n *nfa) text(from int, s string) int {
	for _, r := range s {
		next, ok := n.trie[trieEdge{from, r}]
		if !ok {
			next = n.state()
			n.edge(from, single(r), next)
			n.trie[trieEdge{from, r}] = next
		}
		from = next
	}
	return from
}

// loop adds a state that is reached for free from at and stays on s.
func (n *nfa) loop(at int, s runeSet) int {
	l := n.state()
	n.free(at, l)
	n.edge(l, s, l)
	return l
}

// direct returns an equal nfa without free edges.
func (n *nfa) direct() *nfa {
	d := &nfa{sets: n.sets, known: n.known, states: make([]nfaState, len(n.states))}
	mark := make([]int, len(n.states)) // state s was seen in the search from mark[s]-1
	for s := range n.states {
		for stack := []int{s}; len(stack) > 0; {
			c := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if mark[c] == s+1 {
				continue
			}
			mark[c] = s + 1
			d.states[s].edges = append(d.states[s].edges, n.states[c].edges...)
			d.states[s].accept = d.states[s].accept || n.states[c].accept
			stack = append(stack, n.states[c].free...)
		}
	}
	return d
}

// matches runs a direct nfa itself, for conditions too large for an automaton.
func (n *nfa) matches(text string) bool {
	now, next := []int{0}, []int(nil)
	for _, r := range text {
		next = next[:0]
		for _, s := range now {
			for _, e := range n.states[s].edges {
				if n.sets[e.set].contains(r) {
					next = append(next, e.to)
				}
			}
		}
		slices.Sort(next)
		now, next = slices.Compact(next), now
		if len(now) == 0 {
			return false
		}
	}
	return slices.ContainsFunc(now, func(s int) bool { return n.states[s].accept })
}

// classes splits the code points into classes that no set tells apart. Class 0
// is what is in no set; rest reports that there is such a code point. of lists
// the classes of each set.
func (n *nfa) classes() (spans []classSpan, count int, of [][]uint16, rest bool) {
	cuts := []rune{0, utf8.MaxRune + 1}
	var wide []int // sets of more than one code point
	for i, set := range n.sets {
		for _, s := range set {
			cuts = append(cuts, s.low, s.high+1)
		}
		if !isSingle(set) {
			wide = append(wide, i)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	of = make([][]uint16, len(n.sets))
	count = 1
	ids := map[string]int{string(make([]byte, len(wide))): 0}
	member := make([]byte, len(wide))
	for i := 0; i+1 < len(cuts); i++ {
		for j, set := range wide {
			member[j] = 0
			if n.sets[set].contains(cuts[i]) {
				member[j] = 1
			}
		}
		id, ok := ids[string(member)]
		one, alone := n.known[cuts[i]]
		if alone || !ok {
			id = count
			count++
			if alone {
				of[one] = append(of[one], uint16(id))
			} else {
				ids[string(member)] = id
			}
			for j, set := range wide {
				if member[j] == 1 {
					of[set] = append(of[set], uint16(id))
				}
			}
		}
		if id == 0 {
			rest = true
			continue
		}
		spans = append(spans, classSpan{span{cuts[i], cuts[i+1] - 1}, uint16(id)})
	}
	return spans, count, of, rest
}
