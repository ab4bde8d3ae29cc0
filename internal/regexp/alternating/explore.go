package alternating

import "slices"

// graph is all states of a program, with their transitions and fates.
type graph struct {
	vertices []vertex
}

type vertex struct {
	next     []int32  // by class
	ends     []uint64 // the members that accept a text that ends here
	accepted []uint64 // the members that accept every continuation
	rejected []uint64 // the members that accept no continuation
}

// explorer makes the states of a program one after the other.
type explorer struct {
	*stepper
	ids       map[string]int32
	positions []position
	key       []byte
	idle      []bool
}

func newExplorer(p *Program, bound int) *explorer {
	return &explorer{stepper: newStepper(newStore(p), bound), ids: map[string]int32{}}
}

// id numbers a position.
func (e *explorer) id(pos position) (id int32, fresh bool) {
	e.key = appendInt(e.key[:0], pos.main)
	for _, t := range pos.trackers {
		e.key = appendInt(e.key, t)
	}
	id, ok := e.ids[string(e.key)]
	if !ok {
		id = int32(len(e.positions))
		e.ids[string(e.key)] = id
		e.positions = append(e.positions, pos)
	}
	return id, !ok
}

// explore makes all states, nil if that takes too much.
func (p *Program) explore(l Limits) *graph {
	work := l.Work
	if work < 0 {
		return nil
	}
	e := newExplorer(p, l.Bound)
	e.id(e.first())
	g := &graph{}
	for at := 0; at < len(e.positions); at++ {
		pos := e.positions[at]
		cost := 4 + len(e.states[pos.main])
		for _, t := range pos.trackers {
			if t != resting {
				cost += 1 + len(e.states[t])
			}
		}
		if work -= cost * p.classes; work < 0 || e.tooLarge || e.size > maxStored {
			return nil
		}
		v := vertex{next: make([]int32, p.classes), ends: e.ends(pos.main)}
		idle, unread := int32(-1), e.unread(pos)
		for class := range v.next {
			if unread[class] && idle >= 0 {
				v.next[class] = idle
				continue
			}
			v.next[class], _ = e.id(e.after(pos, class))
			if unread[class] {
				idle = v.next[class]
			}
		}
		g.vertices = append(g.vertices, v)
	}
	if e.tooLarge {
		return nil
	}
	g.settle(p)
	return g
}

// unread returns the classes that no thread of a position reads. They all lead to
// the same position. It finds none where obligations or trackers read too. The
// slice is valid until the next call.
func (e *explorer) unread(pos position) []bool {
	if e.idle == nil {
		e.idle = make([]bool, e.p.classes)
	}
	clear(e.idle)
	for _, t := range pos.trackers {
		if t != resting {
			return e.idle
		}
	}
	for _, t := range e.states[pos.main] {
		if t.duty != none {
			return e.idle
		}
	}
	for class := range e.idle {
		e.idle[class] = true
	}
	for _, t := range e.states[pos.main] {
		if in := &e.p.insts[t.pc]; in.op == opChar {
			for class, read := range e.p.row(in.set) {
				if read || in.skip >= 0 && e.p.in(in.skip, class) {
					e.idle[class] = false
				}
			}
		}
	}
	return e.idle
}

// settle finds for every vertex which members can still accept and which can
// still reject: at its end, or after any class.
func (g *graph) settle(p *Program) {
	before := make([][]int32, len(g.vertices))
	all := make([]uint64, p.words)
	for m := range p.members {
		all[m/64] |= 1 << (m % 64)
	}
	queue := make([]int32, 0, len(g.vertices))
	for i := range g.vertices {
		v := &g.vertices[i]
		// For now accepted holds those that can reject, rejected those that can accept.
		v.rejected, v.accepted = slices.Clone(v.ends), make([]uint64, p.words)
		for w := range all {
			v.accepted[w] = all[w] &^ v.ends[w]
		}
		for _, to := range slices.Compact(slices.Sorted(slices.Values(v.next))) {
			before[to] = append(before[to], int32(i))
		}
		queue = append(queue, int32(i))
	}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		v := &g.vertices[at]
		for _, b := range before[at] {
			u, changed := &g.vertices[b], false
			for w := range all {
				accept, reject := u.rejected[w]|v.rejected[w], u.accepted[w]|v.accepted[w]
				changed = changed || accept != u.rejected[w] || reject != u.accepted[w]
				u.rejected[w], u.accepted[w] = accept, reject
			}
			if changed {
				queue = append(queue, b)
			}
		}
	}
	for i := range g.vertices {
		v := &g.vertices[i]
		for w := range all {
			v.accepted[w], v.rejected[w] = all[w]&^v.accepted[w], all[w]&^v.rejected[w]
		}
	}
}

// Witness finds a shortest text that is in the set of member 0, and among those
// one that is easy to read. found reports whether there is one; proven is false if
// budget states do not suffice.
func (p *Program) Witness(budget int) (text string, found, proven bool) {
	e := newExplorer(p, Limits{}.normal().Bound)
	type step struct {
		from  int32
		class int
	}
	e.id(e.first())
	steps := []step{{from: -1}}
	for at := 0; at < len(e.positions); at++ {
		pos := e.positions[at]
		if e.tooLarge || e.size > maxStored {
			return "", false, false
		}
		if e.accepted(pos.main, 0) {
			var out []rune
			for i := int32(at); steps[i].from >= 0; i = steps[i].from {
				out = append(out, p.alphabet.names[steps[i].class])
			}
			slices.Reverse(out)
			return string(out), true, true
		}
		if len(e.states[pos.main]) == 0 {
			continue
		}
		waited, unread := false, e.unread(pos)
		for _, class := range p.alphabet.ranks {
			if unread[class] && waited {
				continue
			}
			waited = waited || unread[class]
			if len(e.positions) > budget {
				return "", false, false
			}
			if _, fresh := e.id(e.after(pos, class)); fresh {
				steps = append(steps, step{int32(at), class})
			}
		}
	}
	return "", false, !e.tooLarge
}
