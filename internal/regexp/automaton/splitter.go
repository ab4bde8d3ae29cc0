package automaton

import "slices"

// splitter sorts the edges of a set of states by class. Most edges are either for
// one code point or for nearly all of them, so the targets of the wide ones are
// collected once for all classes that are in the same wide sets.
type splitter struct {
	of    [][]uint16 // classes of each set
	kind  []int      // kind of each class: which wide sets it is in
	in    [][]int    // kinds that each wide set contains; nil for a narrow set
	wide  [][]int    // targets for each kind
	more  [][]int    // further targets of single classes
	which []uint16   // the classes that have some
	buf   []int
}

func newSplitter(of [][]uint16, classes int) *splitter {
	w := &splitter{of: of, kind: make([]int, classes), in: make([][]int, len(of)), more: make([][]int, classes)}
	sizes := []int{classes} // of the kinds
	for set, members := range of {
		if len(members) <= 4 {
			continue
		}
		sizes = w.split(members, sizes)
		w.in[set] = []int{}
	}
	w.wide = make([][]int, len(sizes))
	for set, members := range of {
		if w.in[set] == nil {
			continue
		}
		for _, c := range members {
			if !slices.Contains(w.in[set], w.kind[c]) {
				w.in[set] = append(w.in[set], w.kind[c])
			}
		}
	}
	return w
}

// split divides the kinds of which a set contains some classes and lacks others. It
// returns the sizes of all kinds.
func (w *splitter) split(members []uint16, sizes []int) []int {
	inside := make(map[int]int) // how many classes of each kind the set contains
	for _, c := range members {
		inside[w.kind[c]]++
	}
	parts := make(map[int]int)
	for _, c := range members {
		k := w.kind[c]
		if inside[k] == sizes[k] {
			continue
		}
		part, ok := parts[k]
		if !ok {
			part = len(sizes)
			parts[k] = part
			sizes = append(sizes, 0)
		}
		w.kind[c] = part
		sizes[part]++
	}
	for k, part := range parts {
		sizes[k] -= sizes[part]
	}
	return sizes
}

func (w *splitter) reset() {
	for k := range w.wide {
		w.wide[k] = w.wide[k][:0]
	}
	for _, c := range w.which {
		w.more[c] = w.more[c][:0]
	}
	w.which = w.which[:0]
}

func (w *splitter) add(e edge) {
	for _, k := range w.in[e.set] {
		w.wide[k] = append(w.wide[k], e.to)
	}
	if w.in[e.set] != nil {
		return
	}
	for _, c := range w.of[e.set] {
		if len(w.more[c]) == 0 {
			w.which = append(w.which, c)
		}
		w.more[c] = append(w.more[c], e.to)
	}
}

// targets numbers where each class leads.
func (w *splitter) targets(b *subsets, next []uint32) {
	ids := w.buf[:0]
	for k := range w.wide {
		w.wide[k] = sorted(w.wide[k])
		ids = append(ids, int(b.id(w.wide[k])))
	}
	w.buf = ids
	for c, k := range w.kind {
		next[c] = uint32(ids[k])
	}
	for _, c := range w.which {
		w.more[c] = sorted(append(w.more[c], w.wide[w.kind[c]]...))
		next[c] = b.id(w.more[c])
	}
}

func sorted(set []int) []int {
	if len(set) < 2 {
		return set
	}
	slices.Sort(set)
	return slices.Compact(set)
}
