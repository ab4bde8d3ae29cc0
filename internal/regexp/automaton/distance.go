package automaton

import "math"

// Unreachable is the distance of a state from which no text is accepted.
const Unreachable = math.MaxInt32

// Measured is a walker that knows how far its states are from acceptance.
type Measured interface {
	Walker
	// Distance is how many code points at least lead from a state to an accepting one,
	// [Unreachable] if none do.
	Distance(state uint32) int
}

var _ Measured = (*DFA)(nil)

// Distance is how many code points at least lead from a state to an accepting one.
func (a *DFA) Distance(state uint32) int {
	a.measure.Do(func() {
		a.distances = make([]int32, len(a.rows))
		var near []uint32
		for s := range a.distances {
			a.distances[s] = Unreachable
			if a.accept[s] {
				a.distances[s] = 0
				near = append(near, uint32(s))
			}
		}
		before := a.before()
		for i := 0; i < len(near); i++ {
			for _, s := range before[near[i]] {
				if a.distances[s] == Unreachable {
					a.distances[s] = a.distances[near[i]] + 1
					near = append(near, s)
				}
			}
		}
	})
	return int(a.distances[state])
}

// before lists for every state the states that lead to it.
func (a *DFA) before() [][]uint32 {
	before := make([][]uint32, len(a.rows))
	for s, row := range a.rows {
		before[row.other] = append(before[row.other], uint32(s))
		for _, m := range a.edges[row.from:row.to] {
			before[m.next] = append(before[m.next], uint32(s))
		}
	}
	return before
}
