package alternating

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Limits bound the states that a table makes. They trade memory for speed. They change no
// verdict, only how early the fate of a member is known. 0 is the default.
type Limits struct {
	// Work is the number of threads that are moved to make all states beforehand;
	// below 0 it is not tried.
	Work int
	// Entries is the number of entries of all rows, of 4 bytes each.
	Entries int
	// Bound is the number of threads and obligations that bind each other in one
	// state. A text that needs more is judged when it is complete.
	Bound int
}

func (l Limits) normal() Limits {
	if l.Work == 0 {
		l.Work = 20_000
	}
	if l.Entries == 0 {
		l.Entries = 1 << 18
	}
	if l.Bound == 0 {
		l.Bound = 1 << 11
	}
	return l
}

// Entries of rows: unknown, or the place of the row of the next state, which is an
// even number above 0. It is odd if the fate of a member changes on the way.
const unknown = uint32(1)

// Table runs a program. It is safe for concurrent use.
type Table struct {
	p      *Program
	limits Limits
	width  uint32 // of a row: a power of two above 1
	shift  uint8  // which one

	mu      sync.Mutex
	current atomic.Pointer[generation]
	graph   *graph  // all states, if there are few
	fresh   *direct // set if even the first state is too large
}

// generation is the content of a table since it was last rebuilt. Rows and states
// only grow; when they move, a new view is published.
type generation struct {
	view  atomic.Pointer[view]
	step  *stepper
	ids   map[string]uint32 // places of the rows of states
	used  uint32            // entries of rows in use
	first uint32
	key   []byte
}

// view is the memory of a generation. Entries are read and written atomically;
// a state is written before the first entry that leads to it.
type view struct {
	of     *generation
	rows   []uint32
	states []stateInfo // by place >> shift
}

// stateInfo describes one state.
type stateInfo struct {
	position
	vertex   int32 // in the graph, if there is one
	node     int32 // of the decoder, -1 between code points
	accepted []uint64
	rejected []uint64
	ends     []uint64 // the members that accept a text that ends here
	decided  bool
}

// State is the state of a table in one text. It is a value; the zero State belongs
// to no table.
type State struct {
	view  *view
	at    uint32
	whole *direct // the text, where states are too large
}

// Table prepares a program to run.
func (p *Program) Table(l Limits) *Table {
	p.bytes.Do(p.alphabet.decodes)
	t := &Table{p: p, limits: l.normal(), shift: uint8(bits.Len(uint(max(p.alphabet.width, 2) - 1)))}
	t.width = 1 << t.shift
	t.graph = p.explore(t.limits)
	t.current.Store(t.begin())
	return t
}

// Exact reports whether the fate of every member is known after the first code point
// that determines it.
func (t *Table) Exact() bool { return t.graph != nil }

// Program returns the program that the table runs.
func (t *Table) Program() *Program { return t.p }

// begin makes an empty generation.
func (t *Table) begin() *generation {
	g := &generation{ids: map[string]uint32{}, used: t.width} // no state is at 0
	v := &view{of: g, rows: make([]uint32, 16*t.width), states: make([]stateInfo, 16)}
	for i := range v.rows {
		v.rows[i] = unknown
	}
	g.view.Store(v)
	info := stateInfo{node: -1}
	if t.graph == nil {
		g.step = newStepper(newStore(t.p), t.limits.Bound)
		info.position = g.step.first()
	}
	g.first = t.place(g, info)
	if t.graph == nil && g.step.tooLarge {
		t.fresh = &direct{p: t.p, fresh: true, from: stateInfo{node: -1}}
		open := t.state(g.view.Load(), g.first)
		open.accepted, open.rejected, open.decided = make([]uint64, t.p.words), make([]uint64, t.p.words), false
	}
	return g
}

// place returns the place of a state, which is added if it is new.
func (t *Table) place(g *generation, info stateInfo) uint32 {
	g.key = appendInt(g.key[:0], info.node)
	if t.graph != nil {
		g.key = appendInt(g.key, info.vertex)
	} else {
		g.key = appendInt(g.key, info.main)
		for _, tracker := range info.trackers {
			g.key = appendInt(g.key, tracker)
		}
	}
	at, ok := g.ids[string(g.key)]
	if ok {
		return at
	}
	at = g.used
	g.used += t.width
	g.ids[string(g.key)] = at
	v := g.view.Load()
	if int(g.used) > len(v.rows) {
		grown := &view{of: g, rows: make([]uint32, 2*len(v.rows)), states: make([]stateInfo, 2*len(v.states))}
		n := copy(grown.rows, v.rows)
		for i := n; i < len(grown.rows); i++ {
			grown.rows[i] = unknown
		}
		copy(grown.states, v.states)
		g.view.Store(grown)
		v = grown
	}
	if t.graph != nil {
		vertex := &t.graph.vertices[info.vertex]
		info.accepted, info.rejected = vertex.accepted, vertex.rejected
	} else {
		info.accepted, info.rejected = t.p.fates(g.step.store, info.main)
	}
	if info.node < 0 { // otherwise the text ends inside of a code point
		info.ends = t.ends(g, info)
	}
	info.decided = t.p.decided(info.accepted, info.rejected)
	*t.state(v, at) = info
	return at
}

// ends returns the members that accept a text that ends in a state between code
// points.
func (t *Table) ends(g *generation, info stateInfo) []uint64 {
	if t.graph != nil {
		return t.graph.vertices[info.vertex].ends
	}
	return g.step.ends(info.main)
}

// fates returns which members are decided by the threads of a state alone.
func (p *Program) fates(st *store, main int32) (accepted, rejected []uint64) {
	accepted, rejected = make([]uint64, p.words), make([]uint64, p.words)
	for m := range p.members {
		rejected[m/64] |= 1 << (m % 64)
	}
	for _, t := range st.states[main] {
		m := p.owner[t.pc]
		rejected[m/64] &^= 1 << (m % 64)
		if p.insts[t.pc].op == opMatch && t.duty == none {
			accepted[m/64] |= 1 << (m % 64)
		}
	}
	return accepted, rejected
}

func (p *Program) decided(accepted, rejected []uint64) bool {
	for m := range p.members {
		if (accepted[m/64]|rejected[m/64])&(1<<(m%64)) == 0 {
			return false
		}
	}
	return true
}

// Start returns the state before any text.
func (t *Table) Start() State {
	g := t.current.Load()
	return State{view: g.view.Load(), at: g.first, whole: t.fresh}
}

// Feed reads text up to and including the first code point at which the fate of a
// member changes. It returns the number of bytes read, and whether a fate changed.
func (t *Table) Feed(s *State, text []byte) (int, bool) {
	if s.whole != nil {
		s.whole = s.whole.more(text)
		return len(text), false
	}
	if t.state(s.view, s.at).decided {
		return len(text), false
	}
	rows, at, classes := s.view.rows, s.at, &t.p.alphabet.bytes
	for i := 0; i < len(text); i++ {
		entry := atomic.LoadUint32(&rows[at+uint32(classes[text[i]])])
		if entry == at {
			continue // most of a text leads nowhere; the next look-up need not wait for this one
		}
		if entry&1 == 0 {
			at = entry
			continue
		}
		if entry == unknown {
			s.at = at
			if entry = t.learn(s, text[i]); s.whole != nil {
				s.whole = s.whole.more(text[i:])
				return len(text), false
			}
			rows = s.view.rows
		}
		at = entry &^ 1
		if entry&1 != 0 {
			s.at = at
			return i + 1, true
		}
	}
	s.at = at
	return len(text), false
}

// learn finds where a byte leads. It moves s to the newest view and, where the
// next state is too large, to judging the whole text.
func (t *Table) learn(s *State, b byte) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.current.Load()
	if g != s.view.of {
		s.at = t.carry(g, s)
	}
	s.view = g.view.Load()
	from := *t.state(s.view, s.at)
	entry := s.at + uint32(t.p.alphabet.bytes[b])
	if next := s.view.rows[entry]; next != unknown {
		return next
	}
	if int(g.used+4*t.width) > t.limits.Entries || g.step != nil && g.step.size > maxStored {
		g = t.begin()
		t.current.Store(g)
		s.at = t.carry(g, s)
		s.view = g.view.Load()
		from = *t.state(s.view, s.at)
		entry = s.at + uint32(t.p.alphabet.bytes[b])
	}
	to, ok := t.next(g, from, b)
	if !ok {
		s.whole = newDirect(t.p, g.step.store, from)
		return unknown
	}
	next := t.place(g, to)
	s.view = g.view.Load()
	info := t.state(s.view, next)
	if !slices.Equal(info.accepted, from.accepted) || !slices.Equal(info.rejected, from.rejected) {
		next |= 1
	}
	atomic.StoreUint32(&s.view.rows[entry], next)
	return next
}

// next returns the state after one more byte, ok unless it is too large.
func (t *Table) next(g *generation, from stateInfo, b byte) (to stateInfo, ok bool) {
	a := &t.p.alphabet
	to = stateInfo{position: from.position, vertex: from.vertex, node: -1}
	led := a.step(from.node, b)
	if led == invalid {
		if from.node < 0 {
			return to, t.move(g, &to, a.bad)
		}
		// Each byte of the broken code point counts, and b begins another.
		for range a.nodes[from.node].read {
			if !t.move(g, &to, a.bad) {
				return to, false
			}
		}
		if led = a.root[b]; led == invalid {
			return to, t.move(g, &to, a.bad)
		}
	}
	if led >= 0 {
		to.node = led
		return to, true
	}
	return to, t.move(g, &to, int(^led))
}

// move moves a state between code points over a class.
func (t *Table) move(g *generation, s *stateInfo, class int) bool {
	if t.graph != nil {
		s.vertex = t.graph.vertices[s.vertex].next[class]
		return true
	}
	s.position = g.step.after(s.position, class)
	large := g.step.tooLarge
	g.step.tooLarge = false
	return !large
}

// state returns the description of the state at an index.
func (t *Table) state(v *view, at uint32) *stateInfo { return &v.states[at>>(t.shift&31)] }

func (t *Table) info(s *State) *stateInfo { return t.state(s.view, s.at) }

// Fate returns the answer that all continuations share for a member, if they do.
func (t *Table) Fate(s *State, member int) automaton.Fate {
	info := t.info(s)
	switch bit := uint64(1) << (member % 64); {
	case info.accepted[member/64]&bit != 0:
		return automaton.Accepts
	case info.rejected[member/64]&bit != 0:
		return automaton.Rejects
	}
	return automaton.Open
}

// Accepted returns the members that accept whatever follows, as bits.
func (t *Table) Accepted(s *State) []uint64 { return t.info(s).accepted }

// Rejected returns the members that reject whatever follows, as bits.
func (t *Table) Rejected(s *State) []uint64 { return t.info(s).rejected }

// Decided reports whether every member is decided.
func (t *Table) Decided(s *State) bool { return t.info(s).decided }

// Accepts reports whether the text so far, if it is complete, is in the set of a
// member.
func (t *Table) Accepts(s *State, member int) bool {
	info := t.info(s)
	switch t.Fate(s, member) {
	case automaton.Accepts:
		return true
	case automaton.Rejects:
		return false
	}
	if s.whole != nil {
		return s.whole.accepts(member)
	}
	if info.node < 0 {
		return info.ends[member/64]&(1<<(member%64)) != 0
	}
	if t.graph != nil {
		v := info.vertex
		for range t.p.alphabet.nodes[info.node].read {
			v = t.graph.vertices[v].next[t.p.alphabet.bad]
		}
		return t.graph.vertices[v].ends[member/64]&(1<<(member%64)) != 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.current.Load()
	at := s.at
	v := s.view
	if g != v.of {
		at = t.carry(g, s)
		v = g.view.Load()
	}
	end := *t.state(v, at)
	for range t.p.alphabet.nodes[end.node].read {
		if !t.move(g, &end, t.p.alphabet.bad) {
			d := newDirect(t.p, g.step.store, *t.state(v, at))
			return d.accepts(member)
		}
	}
	return g.step.accepted(end.main, int32(member))
}
