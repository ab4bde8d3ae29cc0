package alternating

import "slices"

// position is the state of a program after some text: the threads of all members,
// and a set of threads for each tracker, resting for one that is not needed any more.
type position struct {
	main     int32
	trackers []int32
}

const resting = int32(-1)

// stepper moves positions over classes of code points. Its fields besides the
// store describe the current position in the text.
type stepper struct {
	*store
	atStart bool

	// The answers of the trackers at this position: the sets of obligations of which one must
	// hold for the tracker to have matched, and for it not to have matched.
	matched, missed [][]int32

	next  map[int32]int32 // sets of threads and where the current class leads them
	moved map[int32]int32 // the same for sets of obligations
	begun map[int32]int32 // bodies of lookaheads and their states here

	levels []*closure // one for each closure that is being made
	depth  int

	bound    int  // of the pairs that may bind each other in a set of threads
	tooLarge bool // a set grew beyond that
}

// closure collects the threads that a place reaches for free.
type closure struct {
	threads []thread
	visited []uint32 // instructions reached without obligations, by mark
	mark    uint32
	under   map[thread]bool // instructions reached with obligations
	bound   int             // threads and instructions with obligations
}

func (c *closure) add(t thread) {
	if t.duty != none {
		c.bound++
	}
	c.threads = append(c.threads, t)
}

func newStepper(st *store, bound int) *stepper {
	s := &stepper{store: st, bound: bound, next: map[int32]int32{}, moved: map[int32]int32{}, begun: map[int32]int32{}}
	s.matched = make([][]int32, len(st.p.trackers))
	s.missed = make([][]int32, len(st.p.trackers))
	return s
}

// open begins a closure, shut ends it.
func (s *stepper) open() *closure {
	if s.depth == len(s.levels) {
		s.levels = append(s.levels, &closure{visited: make([]uint32, len(s.p.insts)), under: map[thread]bool{}})
	}
	c := s.levels[s.depth]
	s.depth++
	c.threads = c.threads[:0]
	c.mark++
	c.bound = 0
	clear(c.under)
	return c
}

func (s *stepper) shut(c *closure) int32 {
	s.depth--
	if c.bound > s.bound {
		s.tooLarge = true
		return never
	}
	set := s.normal(c.threads)
	for _, t := range set {
		if t.duty == none && s.p.insts[t.pc].op == opBody {
			return always
		}
	}
	return s.state(set)
}

// first returns the position before any text.
func (s *stepper) first() position {
	s.atStart = true
	clear(s.begun)
	pos := position{trackers: make([]int32, len(s.p.trackers))}
	for i, t := range s.p.trackers {
		c := s.open()
		s.reach(c, t.start, none)
		pos.trackers[i] = s.shut(c)
		s.listen(i, pos.trackers[i])
	}
	c := s.open()
	for _, m := range s.p.members {
		s.reach(c, m.start, none)
	}
	pos.main = s.shut(c)
	s.atStart = false
	s.rest(&pos)
	return pos
}

// after returns the position after one more code point of a class. tooLarge reports
// that it could not be made.
func (s *stepper) after(from position, class int) position {
	clear(s.next)
	clear(s.moved)
	clear(s.begun)
	to := position{trackers: make([]int32, len(from.trackers))}
	for i, state := range from.trackers {
		if state == resting {
			to.trackers[i] = resting
			continue
		}
		c := s.open()
		s.move(c, state, class)
		s.reach(c, s.p.trackers[i].start, none)
		to.trackers[i] = s.shut(c)
		s.listen(i, to.trackers[i])
	}
	c := s.open()
	s.move(c, from.main, class)
	to.main = s.shut(c)
	s.rest(&to)
	return to
}

// rest puts trackers to rest whose members are decided.
func (s *stepper) rest(pos *position) {
	if len(pos.trackers) == 0 {
		return
	}
	open := make([]bool, len(s.p.members))
	for _, t := range s.states[pos.main] {
		if s.p.insts[t.pc].op != opMatch || t.duty != none {
			open[s.p.owner[t.pc]] = true
		}
	}
	for i, t := range s.p.trackers {
		if !open[t.member] {
			pos.trackers[i] = resting
		}
	}
}

// listen finds the answer of a tracker in a state.
func (s *stepper) listen(tracker int, state int32) {
	s.matched[tracker], s.missed[tracker] = s.matched[tracker][:0], s.missed[tracker][:0]
	for _, t := range s.states[state] {
		if s.p.insts[t.pc].op == opHere {
			s.matched[tracker] = append(s.matched[tracker], t.duty)
		}
	}
	// Not to have matched is to break an obligation of each.
	missed := append(s.missed[tracker], none)
	for _, duty := range s.matched[tracker] {
		var further []int32
		for _, m := range missed {
			for _, o := range s.duties[duty] {
				if d := s.both(m, s.duty([]int32{o ^ 1})); d != failed && !slices.Contains(further, d) {
					further = append(further, d)
				}
			}
		}
		if missed = further; len(missed) > s.bound {
			s.tooLarge = true
			break
		}
	}
	s.missed[tracker] = missed
}

// move adds where a class leads the threads of a state.
func (s *stepper) move(c *closure, state int32, class int) {
	if state == always {
		panic("alternating: a state that has matched moves") // a mistake in this package: step and moveDuty end there
	}
	for _, t := range s.states[state] {
		in := &s.p.insts[t.pc]
		passed := (in.op == opChar || in.op == opHere) && in.skip >= 0 && s.p.in(in.skip, class)
		if !passed && (in.op == opHere || in.op == opChar && !s.p.in(in.set, class)) {
			continue
		}
		duty := s.moveDuty(t.duty, class)
		switch {
		case duty == failed:
		case in.op == opChar && !passed:
			s.reach(c, in.next, duty)
		default:
			c.add(thread{t.pc, duty})
		}
	}
}

// moveDuty returns where a class leads obligations: failed if it breaks one.
func (s *stepper) moveDuty(duty int32, class int) int32 {
	if duty == none {
		return none
	}
	if len(s.duties[duty]) > s.bound {
		s.tooLarge = true
		return failed
	}
	if to, ok := s.moved[duty]; ok {
		return to
	}
	left := make([]int32, 0, 8)
	to := none
	for _, o := range s.duties[duty] {
		state, negative := s.step(o>>1, class), o&1
		if state == always && negative == 0 || state == never && negative == 1 {
			continue
		}
		if state == always || state == never {
			to = failed
			break
		}
		left = append(left, state<<1|negative)
	}
	if to != failed {
		to = s.normalDuty(left)
	}
	s.moved[duty] = to
	return to
}

// step returns where a class leads the state of a body.
func (s *stepper) step(state int32, class int) int32 {
	if to, ok := s.next[state]; ok {
		return to
	}
	c := s.open()
	s.move(c, state, class)
	to := s.shut(c)
	s.next[state] = to
	return to
}

// reach adds the threads that an instruction leads to for free.
func (s *stepper) reach(c *closure, pc, duty int32) {
	for {
		if duty == failed || c.visited[pc] == c.mark || c.bound > s.bound {
			return
		}
		if duty == none {
			c.visited[pc] = c.mark
		} else {
			if c.under[thread{pc, duty}] {
				return
			}
			c.under[thread{pc, duty}] = true
			c.bound++
		}
		in := &s.p.insts[pc]
		switch in.op {
		case opSplit:
			s.reach(c, in.next, duty)
			pc = in.alt
			continue
		case opStart:
			if !s.atStart {
				return
			}
		case opAhead:
			duty = s.both(duty, s.begin(in))
		case opBehind:
			results := s.matched[in.alt]
			if in.negative {
				results = s.missed[in.alt]
			}
			for _, d := range results {
				s.reach(c, in.next, s.both(duty, d))
			}
			return
		case opChar:
			if duty = s.forChar(duty, in); duty != failed {
				c.add(thread{pc, duty})
			}
			return
		default:
			c.add(thread{pc, duty})
			return
		}
		pc = in.next
	}
}

// begin returns the obligation that a lookahead imposes.
func (s *stepper) begin(in *inst) int32 {
	state, ok := s.begun[in.alt]
	if !ok {
		body := s.open()
		s.reach(body, in.alt, none)
		state = s.shut(body)
		s.begun[in.alt] = state
	}
	if state == always || state == never {
		if (state == always) != in.negative {
			return none
		}
		return failed
	}
	o := state << 1
	if in.negative {
		o |= 1
	}
	return s.duty([]int32{o})
}

// accepted reports whether a text that ends in a state is accepted by it: by an end
// whose obligations hold at the end of the text. Only ends of one member count for
// the state of all, any for the state of a body (member below 0).
func (s *store) accepted(state, member int32) bool {
	if state == always {
		return true
	}
	for _, t := range s.states[state] {
		in := &s.p.insts[t.pc]
		if (in.op == opBody || in.op == opMatch && in.alt == member) && s.fulfilled(t.duty) {
			return true
		}
	}
	return false
}

func (s *store) fulfilled(duty int32) bool {
	for _, o := range s.duties[duty] {
		if s.accepted(o>>1, -1) == (o&1 != 0) {
			return false
		}
	}
	return true
}

// ends returns the members that accept a text that ends in a state.
func (s *store) ends(main int32) []uint64 {
	out := make([]uint64, s.p.words)
	for _, t := range s.states[main] {
		if s.p.insts[t.pc].op == opMatch && s.fulfilled(t.duty) {
			m := s.p.owner[t.pc]
			out[m/64] |= 1 << (m % 64)
		}
	}
	return out
}
