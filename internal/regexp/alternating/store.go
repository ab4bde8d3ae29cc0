package alternating

import (
	"slices"
)

// thread is a place of the program, and the set of obligations under which it is
// reached. The place is a Char or the end of a member or body: free
// instructions have been passed.
type thread struct {
	pc   int32
	duty int32 // number of a set of obligations
}

// Sets of threads have numbers. As the state of a lookahead's body, no threads
// mean that it cannot match any more and the one below that it has matched.
const (
	never  = int32(0)
	always = int32(1)
)

// none is the number of the empty set of obligations. An obligation is the number
// of a set of threads times two, plus one if it must not be accepted.
const none = int32(0)

// failed is the set of obligations that no text fulfils.
const failed = int32(-1)

// maxStored bounds everything that is stored at once, in threads.
const maxStored = 1 << 21

// store numbers sets of threads and sets of obligations. A set refers only to sets
// that were numbered before it.
type store struct {
	p *Program

	states  [][]thread
	duties  [][]int32
	stateID map[string]int32
	dutyID  map[string]int32
	size    int // of everything stored, in threads

	// single is the set of code points that a body of one code point reads, -1 for
	// other states.
	single []int32

	key  []byte
	pool []thread
	ints []int32
}

func newStore(p *Program) *store {
	st := &store{p: p, stateID: map[string]int32{}, dutyID: map[string]int32{}}
	st.states = [][]thread{nil, nil}
	st.single = []int32{-1, -1}
	st.duties = [][]int32{nil}
	return st
}

// state numbers a normal set of threads.
func (st *store) state(set []thread) int32 {
	if len(set) == 0 {
		return never
	}
	st.key = st.key[:0]
	for _, t := range set {
		st.key = appendInt(appendInt(st.key, t.pc), t.duty)
	}
	id, ok := st.stateID[string(st.key)]
	if ok {
		return id
	}
	id = int32(len(st.states))
	st.stateID[string(st.key)] = id
	if cap(st.pool)-len(st.pool) < len(set) {
		st.pool = make([]thread, 0, 256+len(set))
	}
	st.pool = append(st.pool, set...)
	st.states = append(st.states, slices.Clip(st.pool[len(st.pool)-len(set):]))
	st.size += len(set) + 4
	single := int32(-1)
	if len(set) == 1 && set[0].duty == none {
		if in := &st.p.insts[set[0].pc]; in.op == opChar && in.skip < 0 && st.p.insts[in.next].op == opBody {
			single = in.set
		}
	}
	st.single = append(st.single, single)
	return id
}

// duty numbers a sorted set of obligations.
func (st *store) duty(set []int32) int32 {
	if len(set) == 0 {
		return none
	}
	st.key = st.key[:0]
	for _, o := range set {
		st.key = appendInt(st.key, o)
	}
	id, ok := st.dutyID[string(st.key)]
	if !ok {
		id = int32(len(st.duties))
		st.dutyID[string(st.key)] = id
		st.duties = append(st.duties, slices.Clone(set))
		st.size += len(set) + 4
	}
	return id
}

// both returns the obligations of both sets, failed if they contradict.
func (st *store) both(a, b int32) int32 {
	switch {
	case a == failed || b == failed:
		return failed
	case a == none || a == b:
		return b
	case b == none:
		return a
	}
	st.ints = append(append(st.ints[:0], st.duties[a]...), st.duties[b]...)
	return st.normalDuty(st.ints)
}

// normalDuty sorts obligations, removes duplicates and finds those that
// contradict. It keeps the slice.
func (st *store) normalDuty(set []int32) int32 {
	slices.Sort(set)
	set = slices.Compact(set)
	for i, o := range set {
		if o&1 == 0 && i+1 < len(set) && set[i+1] == o|1 {
			return failed
		}
		if o&1 == 0 || st.single[o>>1] < 0 {
			continue
		}
		// o forbids a next code point of a set; does another demand one?
		forbidden := st.p.row(st.single[o>>1])
		for _, other := range set {
			if other&1 == 0 && st.single[other>>1] >= 0 && subset(st.p.row(st.single[other>>1]), forbidden) {
				return failed
			}
		}
	}
	return st.duty(set)
}

func subset(a, b []bool) bool {
	for i, in := range a {
		if in && !b[i] {
			return false
		}
	}
	return true
}

func disjoint(a, b []bool) bool {
	for i, in := range a {
		if in && b[i] {
			return false
		}
	}
	return true
}

// forChar simplifies the obligations of a thread that reads a code point of a set
// next: those on that code point alone are fulfilled by it, or never.
func (st *store) forChar(duty int32, in *inst) int32 {
	if duty == none || in.skip >= 0 {
		return duty
	}
	set := st.p.row(in.set)
	changed := false
	kept := make([]int32, 0, 8)
	for _, o := range st.duties[duty] {
		if single := st.single[o>>1]; single >= 0 {
			ahead := st.p.row(single)
			inside, outside := subset(set, ahead), disjoint(set, ahead)
			negative := o&1 != 0
			if inside && negative || outside && !negative {
				return failed
			}
			if inside || outside {
				changed = true
				continue
			}
		}
		kept = append(kept, o)
	}
	if !changed {
		return duty
	}
	return st.duty(kept)
}

// includes reports whether the set a of obligations has all of b.
func (st *store) includes(a, b int32) bool {
	if b == none || a == b {
		return true
	}
	have := st.duties[a]
	for _, o := range st.duties[b] {
		if _, ok := slices.BinarySearch(have, o); !ok {
			return false
		}
	}
	return true
}

// normal sorts a set of threads and leaves out those that another one implies: the same
// place with more obligations, and threads that go on next to an end that is reached under
// the same or fewer. It keeps the slice.
func (st *store) normal(set []thread) []thread {
	slices.SortFunc(set, func(a, b thread) int {
		if a.pc != b.pc {
			return int(a.pc) - int(b.pc)
		}
		return int(a.duty) - int(b.duty)
	})
	set = slices.Compact(set)
	free := true
	for _, t := range set {
		if t.duty != none {
			free = false
		}
		if o := st.p.insts[t.pc].op; o == opMatch || o == opBody {
			free = false
		}
	}
	if free {
		return set
	}
	// First compare ends with all threads of the same member or body.
	ends := set[:0:0]
	for _, t := range set {
		if o := st.p.insts[t.pc].op; o == opMatch || o == opBody {
			ends = append(ends, t)
		}
	}
	out := set[:0]
	for i, t := range set {
		if !st.absorbed(t, set[i:], ends, out) {
			out = append(out, t)
		}
	}
	return out
}

// absorbed reports whether the ends, the kept threads before a thread or those after it
// imply it.
func (st *store) absorbed(t thread, from, ends, kept []thread) bool {
	owner := st.p.owner[t.pc]
	for _, e := range ends {
		if e != t && st.p.owner[e.pc] == owner && st.includes(t.duty, e.duty) && !(st.p.insts[t.pc].op == st.p.insts[e.pc].op && e.duty == t.duty) {
			return true
		}
	}
	if t.duty == none {
		return false
	}
	for i := len(kept) - 1; i >= 0 && kept[i].pc == t.pc; i-- {
		if st.includes(t.duty, kept[i].duty) {
			return true
		}
	}
	for _, o := range from[1:] {
		if o.pc != t.pc {
			break
		}
		if st.includes(t.duty, o.duty) {
			return true
		}
	}
	return false
}
