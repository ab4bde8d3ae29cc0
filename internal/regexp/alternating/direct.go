package alternating

import "slices"

// direct is a text whose states are too large to be made: the position where that
// was found, and the text after it, kept until it is complete. Then it is judged
// place by place: a lookahead or the rest of a member from the end to the start,
// as whether it would match from there on, a lookbehind from the start to the end.
// That takes time in the length of the text and the size of the program. A direct
// is not changed; more text makes another that leads back to it.
type direct struct {
	before *direct
	text   []byte

	// Of the first one: where it begins. fresh means before any text, where even the
	// first state is too large.
	p     *Program
	fresh bool
	store *store
	from  stateInfo
}

// newDirect keeps a state in a store of its own.
func newDirect(p *Program, st *store, from stateInfo) *direct {
	d := &direct{p: p, store: newStore(p), from: from}
	d.from.position = newCarrier(st, d.store).position(from.position)
	return d
}

// more is the text with more of it.
func (d *direct) more(text []byte) *direct {
	return &direct{before: d, text: slices.Clone(text)}
}

// accepts judges the text for a member.
func (d *direct) accepts(member int) bool {
	var parts [][]byte
	for ; d.before != nil; d = d.before {
		parts = append(parts, d.text)
	}
	slices.Reverse(parts)
	j := &judge{Program: d.p, fresh: d.fresh, store: d.store, from: d.from.position, holds: map[int32][]bool{}, ahead: map[int32][]bool{}, kept: map[int32]bool{}}
	j.text = d.p.alphabet.read(d.from.node, slices.Concat(parts...))
	j.first = make([]bool, len(d.p.insts))
	if matches := j.backward(d.p.members[member].start); d.fresh {
		return matches[0]
	}
	for _, t := range d.store.states[d.from.main] {
		if d.p.owner[t.pc] == int32(member) && j.first[t.pc] && j.fulfilled(t.duty) {
			return true
		}
	}
	return false
}

// read returns the classes of a text that begins after a node of the decoder.
func (a *alphabet) read(node int32, text []byte) []int {
	var out []int
	broken := func() {
		for range a.nodes[node].read {
			out = append(out, a.bad)
		}
	}
	for _, b := range text {
		led := a.step(node, b)
		if led == invalid && node >= 0 {
			broken()
			led = a.root[b]
		}
		switch {
		case led == invalid:
			out, node = append(out, a.bad), -1
		case led >= 0:
			node = led
		default:
			out, node = append(out, int(^led)), -1
		}
	}
	if node >= 0 {
		broken()
	}
	return out
}

// judge judges a complete text.
type judge struct {
	*Program
	fresh bool
	store *store
	from  position
	text  []int // classes

	ahead map[int32][]bool // by body: whether it matches from each place on
	holds map[int32][]bool // by tracker: whether it has matched up to each place
	// first reports for instructions whether the program from them on matches at the
	// first position. Those of bodies are known once the body was judged.
	first []bool
	kept  map[int32]bool // states at the first place that are accepted
}

// parts returns the instructions that a place leads to, and judges the lookarounds
// among them.
func (j *judge) parts(start int32) []int32 {
	seen := map[int32]bool{start: true}
	out := []int32{start}
	for i := 0; i < len(out); i++ {
		in := &j.insts[out[i]]
		ways := []int32{in.next}
		switch in.op {
		case opSplit:
			ways = append(ways, in.alt)
		case opAhead:
			if _, ok := j.ahead[in.alt]; !ok {
				j.ahead[in.alt] = j.backward(in.alt)
			}
		case opBehind:
			if _, ok := j.holds[in.alt]; !ok {
				j.holds[in.alt] = j.forward(in.alt)
			}
		case opMatch, opBody, opHere:
			continue
		}
		for _, way := range ways {
			if !seen[way] {
				seen[way] = true
				out = append(out, way)
			}
		}
	}
	return out
}

// free reports whether an instruction that reads no code point lets a thread pass at a position.
func (j *judge) free(in *inst, at int) bool {
	switch in.op {
	case opSplit:
		return true
	case opAhead:
		return j.ahead[in.alt][at] != in.negative
	case opBehind:
		return j.holds[in.alt][at] != in.negative
	}
	// opStart: the first place has been gone through, or is the start of the text.
	return in.op == opStart && j.fresh && at == 0
}

// backward returns whether the program from start on matches at each position.
func (j *judge) backward(start int32) []bool {
	parts := j.parts(start)
	before := map[int32][]int32{} // the instructions that lead to one for free
	for _, pc := range parts {
		switch in := &j.insts[pc]; in.op {
		case opSplit:
			before[in.alt] = append(before[in.alt], pc)
			fallthrough
		case opStart, opAhead, opBehind:
			before[in.next] = append(before[in.next], pc)
		}
	}
	out := make([]bool, len(j.text)+1)
	now, later := make([]bool, len(j.insts)), make([]bool, len(j.insts))
	var todo []int32
	for at := len(j.text); at >= 0; at-- {
		for _, pc := range parts {
			in := &j.insts[pc]
			now[pc] = in.op == opMatch || in.op == opBody
			if in.op == opChar && at < len(j.text) {
				if in.skip >= 0 && j.in(in.skip, j.text[at]) {
					now[pc] = later[pc]
				} else {
					now[pc] = j.in(in.set, j.text[at]) && later[in.next]
				}
			}
			if now[pc] {
				todo = append(todo, pc)
			}
		}
		for len(todo) > 0 {
			pc := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, b := range before[pc] {
				if !now[b] && j.free(&j.insts[b], at) {
					now[b] = true
					todo = append(todo, b)
				}
			}
		}
		out[at] = now[start]
		now, later = later, now
	}
	for _, pc := range parts {
		j.first[pc] = later[pc]
	}
	return out
}

// forward returns whether a tracker has matched up to each place.
func (j *judge) forward(tracker int32) []bool {
	out := make([]bool, len(j.text)+1)
	start := j.trackers[tracker].start
	j.parts(start)
	var now, next []int32
	on := make([]bool, len(j.insts))
	reach := func(pc int32) {
		if !on[pc] {
			on[pc] = true
			next = append(next, pc)
		}
	}
	switch {
	case j.fresh:
		reach(start)
	case j.from.trackers[tracker] == resting:
		return out // no tracker is asked
	default:
		for _, t := range j.store.states[j.from.trackers[tracker]] {
			if j.fulfilled(t.duty) {
				reach(t.pc)
			}
		}
	}
	for at := 0; ; at++ {
		for i := 0; i < len(next); i++ {
			in := &j.insts[next[i]]
			if in.op != opChar && in.op != opHere && j.free(in, at) {
				reach(in.next)
				if in.op == opSplit {
					reach(in.alt)
				}
			}
		}
		now, next = next, now[:0]
		for _, pc := range now {
			on[pc] = false
			out[at] = out[at] || j.insts[pc].op == opHere
		}
		if at == len(j.text) {
			return out
		}
		reach(start)
		for _, pc := range now {
			in := &j.insts[pc]
			switch {
			case in.skip >= 0 && (in.op == opChar || in.op == opHere) && j.in(in.skip, j.text[at]):
				reach(pc)
			case in.op == opChar && j.in(in.set, j.text[at]):
				reach(in.next)
			}
		}
	}
}

// fulfilled reports whether the text fulfils obligations of the first place.
func (j *judge) fulfilled(duty int32) bool {
	for _, o := range j.store.duties[duty] {
		if j.accepted(o>>1) == (o&1 != 0) {
			return false
		}
	}
	return true
}

// accepted reports whether a body accepts the text from a state at the first place.
func (j *judge) accepted(state int32) bool {
	if state == always {
		return true
	}
	yes, ok := j.kept[state]
	if !ok {
		for _, t := range j.store.states[state] {
			if j.first[t.pc] && j.fulfilled(t.duty) {
				yes = true
				break
			}
		}
		j.kept[state] = yes
	}
	return yes
}
