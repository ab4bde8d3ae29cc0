package automaton

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// NFA is a set of texts being built: states with sets of code points on their
// edges, and free edges that consume no code point. State 0 is the start. A text is in
// the set if it leads from there to an accepting state.
type NFA struct {
	states []state
	sets   []Set
	known  map[rune]int     // sets of one code point
	same   map[*Span]int    // other sets, by their memory: they are never changed
	trie   map[trieEdge]int // literals and loops that start at one state share their beginnings
}

type state struct {
	free   []int
	edges  []edge
	accept bool
}

type edge struct{ set, to int }

type trieEdge struct {
	from int
	r    rune // of a literal; the complement of a set's number for a loop on the set
}

// New returns an NFA that accepts no text yet.
func New() *NFA {
	return &NFA{known: make(map[rune]int), same: make(map[*Span]int), trie: make(map[trieEdge]int), states: make([]state, 1)}
}

// State adds a state and returns its number.
func (n *NFA) State() int {
	n.states = append(n.states, state{})
	return len(n.states) - 1
}

// Len returns the number of states.
func (n *NFA) Len() int { return len(n.states) }

// Accept makes a state accepting.
func (n *NFA) Accept(at int) { n.states[at].accept = true }

// Accepting reports whether a state is accepting.
func (n *NFA) Accepting(at int) bool { return n.states[at].accept }

// Free leads from a state to another without a code point.
func (n *NFA) Free(from, to int) { n.states[from].free = append(n.states[from].free, to) }

// Edge leads from a state to another on the members of a set.
func (n *NFA) Edge(from int, s Set, to int) {
	if len(s) > 0 {
		n.states[from].edges = append(n.states[from].edges, edge{n.set(s), to})
	}
}

// Edges lists the edges of a state.
func (n *NFA) Edges(from int) iter.Seq2[Set, int] {
	return func(yield func(Set, int) bool) {
		for _, e := range n.states[from].edges {
			if !yield(n.sets[e.set], e.to) {
				return
			}
		}
	}
}

// Frees lists where the free edges of a state lead.
func (n *NFA) Frees(from int) []int { return n.states[from].free }

// set numbers a set.
func (n *NFA) set(s Set) int {
	at, ok := n.same[&s[0]]
	if s.single() {
		at, ok = n.known[s[0].Low]
	}
	if ok {
		return at
	}
	at = len(n.sets)
	n.sets = append(n.sets, s)
	if s.single() {
		n.known[s[0].Low] = at
	} else {
		n.same[&s[0]] = at
	}
	return at
}

// Text adds literal code points after a state and returns where they end. The
// same text after the same state ends in the same state, so that large lists
// share their beginnings; a state made here is reached by its text only.
func (n *NFA) Text(from int, s string) int {
	for _, r := range s {
		next, ok := n.trie[trieEdge{from, r}]
		if !ok {
			next = n.State()
			n.Edge(from, Single(r), next)
			n.trie[trieEdge{from, r}] = next
		}
		from = next
	}
	return from
}

// Loop returns a state that is reached for free from another and stays on a set. As with Text, the
// same loop after the same state is the same state, and is reached by that only.
func (n *NFA) Loop(at int, s Set) int {
	key := trieEdge{at, ^rune(n.set(s))}
	l, ok := n.trie[key]
	if !ok {
		l = n.State()
		n.Free(at, l)
		n.Edge(l, s, l)
		n.trie[key] = l
	}
	return l
}

// Direct returns the same set of texts without free edges.
func (n *NFA) Direct() *NFA {
	d := &NFA{sets: n.sets, known: n.known, states: make([]state, len(n.states))}
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

// Matches reports whether a text is in the set of a direct NFA. It takes time in
// the number of states for each code point.
func (n *NFA) Matches(text string) bool {
	return slices.ContainsFunc(n.after(text), func(s int) bool { return n.states[s].accept })
}

// after lists the states that a text leads to.
func (n *NFA) after(text string) []int {
	now, next := []int{0}, []int(nil)
	for _, r := range text {
		next = next[:0]
		for _, s := range now {
			for _, e := range n.states[s].edges {
				if n.sets[e.set].Contains(r) {
					next = append(next, e.to)
				}
			}
		}
		slices.Sort(next)
		now, next = slices.Compact(next), now
		if len(now) == 0 {
			return nil
		}
	}
	return now
}

// classes partitions the code points into the largest classes of which every set contains all or
// none. Class 0 holds the code points in no set; rest reports whether there is such a code point.
// of lists the classes of each set.
func (n *NFA) classes() (spans []classSpan, count int, of [][]uint16, rest bool) {
	cuts := []rune{0, utf8.MaxRune + 1}
	var wide []int // sets of more than one code point
	for i, set := range n.sets {
		for _, s := range set {
			cuts = append(cuts, s.Low, s.High+1)
		}
		if !set.single() {
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
			if n.sets[set].Contains(cuts[i]) {
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
		spans = append(spans, classSpan{Span{cuts[i], cuts[i+1] - 1}, uint16(id)})
	}
	return spans, count, of, rest
}
