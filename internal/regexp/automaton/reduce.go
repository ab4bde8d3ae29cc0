package automaton

import (
	"encoding/binary"
	"slices"
)

// reduce returns the same set of texts with states merged that continue alike: they accept alike,
// and equal sets lead them to equal states or back to themselves. So the common end of many
// alternatives is one end: without it the alternatives that were seen before the end are a set of
// their own each, exponentially many. n is direct, and other cycles than loops of one state stay as
// they are.
func (n *NFA) reduce() *NFA {
	r := reducer{n: n, as: make([]int, len(n.states)), known: make(map[string]int)}
	for s := range r.as {
		r.as[s] = unvisited
	}
	r.visit(0)
	d := &NFA{sets: n.sets, known: n.known, states: make([]state, len(n.states))}
	for s, as := range r.as {
		if as != s {
			continue // merged or not reached
		}
		d.states[s].accept = n.states[s].accept
		for _, e := range n.states[s].edges {
			d.states[s].edges = append(d.states[s].edges, edge{e.set, r.as[e.to]})
		}
		d.states[s].edges = unique(d.states[s].edges)
	}
	d.states[0] = d.states[r.as[0]] // the start, which another state may stand for elsewhere
	return d
}

// Marks of states in [reducer] that have no representative yet.
const (
	unvisited = -1
	open      = -2 // the search is below it
)

type reducer struct {
	n     *NFA
	as    []int          // the representative of each state
	known map[string]int // representatives by how they continue
	key   []byte
	edges []edge
}

// visit finds the representatives of the states that a state leads to, and of itself. The search
// keeps its own stack, because literals may be long.
func (r *reducer) visit(start int) {
	type frame struct{ state, next int }
	stack := []frame{{state: start}}
	r.as[start] = open
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		edges := r.n.states[top.state].edges
		if top.next < len(edges) {
			to := edges[top.next].to
			top.next++
			if r.as[to] == unvisited {
				r.as[to] = open
				stack = append(stack, frame{state: to})
			}
			continue
		}
		r.as[top.state] = r.represent(top.state)
		stack = stack[:len(stack)-1]
	}
}

// represent returns the state that stands for s: the first that continues alike, s if there is none
// or s is on a cycle of several states.
func (r *reducer) represent(s int) int {
	r.edges = r.edges[:0]
	for _, e := range r.n.states[s].edges {
		to := r.as[e.to]
		switch {
		case e.to == s:
			to = len(r.as) // back to itself
		case to == open:
			return s
		}
		r.edges = append(r.edges, edge{e.set, to})
	}
	r.edges = unique(r.edges)
	r.key = append(r.key[:0], 0)
	if r.n.states[s].accept {
		r.key[0] = 1
	}
	for _, e := range r.edges {
		r.key = binary.LittleEndian.AppendUint32(r.key, uint32(e.set))
		r.key = binary.LittleEndian.AppendUint32(r.key, uint32(e.to))
	}
	as, ok := r.known[string(r.key)]
	if !ok {
		as = s
		r.known[string(r.key)] = s
	}
	return as
}

func unique(edges []edge) []edge {
	slices.SortFunc(edges, func(a, b edge) int {
		if a.set != b.set {
			return a.set - b.set
		}
		return a.to - b.to
	})
	return slices.Compact(edges)
}

func (n *NFA) edgeCount() (count int) {
	for _, s := range n.states {
		count += len(s.edges)
	}
	return count
}

// covering is the accepting states that stay on a set of code points: such a state accepts every
// text of these, and covers the states that lead nowhere by other code points. A set of states with
// both is the same set without the covered ones, so that a text that has matched needs no memory of
// how far it would match again.
type covering struct {
	stays   []bool // states that accept every text of the set
	covered []bool // states from which no other text is accepted
}

// coverings returns the coverings of a direct NFA, those by the largest sets first.
func (n *NFA) coverings() (all []covering) {
	before := make([][]int, len(n.states))
	stays := map[int][]int{}
	for s, state := range n.states {
		for _, e := range state.edges {
			if e.to != s {
				before[e.to] = append(before[e.to], s)
			} else if state.accept {
				stays[e.set] = append(stays[e.set], s)
			}
		}
	}
	var sets []int
	for set := range stays {
		sets = append(sets, set)
	}
	slices.SortFunc(sets, func(a, b int) int {
		if d := size(n.sets[b]) - size(n.sets[a]); d != 0 {
			return d
		}
		return a - b
	})
	for _, set := range sets[:min(len(sets), maxCoverings)] {
		all = append(all, n.covering(set, stays[set], before))
	}
	return all
}

func size(s Set) (members int) {
	for _, span := range s {
		members += int(span.High-span.Low) + 1
	}
	return members
}

// maxCoverings bounds the sets that states are compared with: globs have one or two.
const maxCoverings = 4

func (n *NFA) covering(set int, stays []int, before [][]int) covering {
	inside := make([]bool, len(n.sets)) // sets that are included in it
	for i, s := range n.sets {
		inside[i] = len(s.Minus(n.sets[set])) == 0
	}
	c := covering{stays: make([]bool, len(n.states)), covered: make([]bool, len(n.states))}
	for _, s := range stays {
		c.stays[s] = true
	}
	var outside []int
	for s, state := range n.states {
		c.covered[s] = !slices.ContainsFunc(state.edges, func(e edge) bool { return !inside[e.set] })
		if !c.covered[s] {
			outside = append(outside, s)
		}
	}
	for len(outside) > 0 {
		s := outside[len(outside)-1]
		outside = outside[:len(outside)-1]
		for _, b := range before[s] {
			if c.covered[b] {
				c.covered[b] = false
				outside = append(outside, b)
			}
		}
	}
	return c
}

// withoutCovered returns a set of states without those that a state of it covers. The result may
// be changed by the next call.
func (b *subsets) withoutCovered(set []int) []int {
	if len(set) < 2 {
		return set
	}
	for _, c := range b.covers {
		keep := slices.IndexFunc(set, func(s int) bool { return c.stays[s] })
		if keep < 0 {
			continue
		}
		by := set[keep]
		kept := b.kept[:0]
		for _, s := range set {
			if s == by || !c.covered[s] {
				kept = append(kept, s)
			}
		}
		b.kept, set = kept, kept
	}
	return set
}
