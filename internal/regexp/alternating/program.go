package alternating

import (
	"encoding/binary"
	"sync"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// op is the kind of an instruction of a program.
type op uint8

const (
	opChar   op = iota + 1 // reads a code point of set; one of skip is passed over
	opSplit                // goes on at next and at alt
	opStart                // goes on at next before the first code point
	opAhead                // goes on at next, obliged to the body at alt
	opBehind               // goes on at next if tracker alt has matched up to here
	opMatch                // the member alt matches, whatever follows
	opBody                 // the body of a lookahead matches, whatever follows
	opHere                 // the body of a lookbehind matches, up to here
)

// inst is one instruction. Its number is its place.
type inst struct {
	op       op
	negative bool  // opAhead, opBehind
	set      int32 // opChar
	skip     int32 // opChar, opHere: a set, -1 for none
	next     int32
	alt      int32
}

// Program is a compiled list of members, each a set of texts: a text is in it if
// the member's threads match a beginning of the text. It is immutable.
type Program struct {
	insts    []inst
	trackers []tracker
	members  []member
	owner    []int32 // the member of every instruction
	alphabet alphabet
	bytes    sync.Once // the alphabet decodes from then on
	has      []bool    // has[set*classes+class]: the class is in the set
	classes  int
	// words is the number of 64-bit words that hold a bit for every member.
	words int
}

// tracker is the automaton of a lookbehind.
type tracker struct{ start, member int32 }

// member is where one language begins, and the trackers it needs.
type member struct {
	start    int32
	trackers []int32
}

// Builder writes a program from its ends to its beginnings: every method returns
// the place of a new instruction and takes the places that follow it.
type Builder struct {
	insts    []inst
	trackers []tracker
	members  []member
	owner    []int32
	sets     []automaton.Set
	known    map[string]int32 // sets by their text
	key      []byte
}

// NewBuilder returns a builder without members.
func NewBuilder() *Builder { return &Builder{known: make(map[string]int32)} }

func (b *Builder) add(in inst) int32 {
	b.insts = append(b.insts, in)
	b.owner = append(b.owner, int32(len(b.members)))
	return int32(len(b.insts) - 1)
}

// Char reads a code point of set and goes on at next. Code points of skip are
// passed over before.
func (b *Builder) Char(set, skip automaton.Set, next int32) int32 {
	return b.add(inst{op: opChar, set: b.set(set), skip: b.skip(skip), next: next})
}

// Split goes on at both places. They may be set later, for loops.
func (b *Builder) Split(first, second int32) int32 {
	return b.add(inst{op: opSplit, next: first, alt: second})
}

// Aim sets where a split goes on.
func (b *Builder) Aim(split, first, second int32) {
	b.insts[split].next, b.insts[split].alt = first, second
}

// Start goes on before the first code point only.
func (b *Builder) Start(next int32) int32 { return b.add(inst{op: opStart, next: next}) }

// Ahead goes on at next if the rest of the text begins, or does not begin, with a text of
// body, which ends in Body.
func (b *Builder) Ahead(negative bool, body, next int32) int32 {
	return b.add(inst{op: opAhead, negative: negative, alt: body, next: next})
}

// Tracker makes the automaton of a lookbehind from a body that ends in Here. The
// trackers that the body itself needs were made before.
func (b *Builder) Tracker(body int32) int32 {
	b.trackers = append(b.trackers, tracker{start: body, member: int32(len(b.members))})
	return int32(len(b.trackers) - 1)
}

// Behind adds a lookbehind: it continues at next if the text so far ends, or does not end,
// with a text of the tracker.
func (b *Builder) Behind(negative bool, tracker, next int32) int32 {
	return b.add(inst{op: opBehind, negative: negative, alt: tracker, next: next})
}

// Match ends the member that is being written.
func (b *Builder) Match() int32 { return b.add(inst{op: opMatch, alt: int32(len(b.members))}) }

// Body ends the body of a lookahead.
func (b *Builder) Body() int32 { return b.add(inst{op: opBody}) }

// Here ends the body of a lookbehind. It still holds after code points of skip.
func (b *Builder) Here(skip automaton.Set) int32 {
	return b.add(inst{op: opHere, skip: b.skip(skip)})
}

// Member completes a member that begins at a place, and numbers it from 0.
func (b *Builder) Member(start int32) {
	m := member{start: start}
	for i, t := range b.trackers {
		if int(t.member) == len(b.members) {
			m.trackers = append(m.trackers, int32(i))
		}
	}
	b.members = append(b.members, m)
}

func (b *Builder) skip(s automaton.Set) int32 {
	if len(s) == 0 {
		return -1
	}
	return b.set(s)
}

// set numbers a set.
func (b *Builder) set(s automaton.Set) int32 {
	b.key = b.key[:0]
	for _, span := range s {
		b.key = binary.LittleEndian.AppendUint32(b.key, uint32(span.Low))
		b.key = binary.LittleEndian.AppendUint32(b.key, uint32(span.High))
	}
	id, ok := b.known[string(b.key)]
	if !ok {
		id = int32(len(b.sets))
		b.sets = append(b.sets, s)
		b.known[string(b.key)] = id
	}
	return id
}

// Program completes the program. The builder is not used afterwards.
func (b *Builder) Program() *Program {
	p := &Program{insts: b.insts, trackers: b.trackers, members: b.members, owner: b.owner, words: (len(b.members) + 63) / 64}
	var in [][]bool
	p.alphabet, in = newAlphabet(b.sets)
	p.classes = len(p.alphabet.names)
	p.has = make([]bool, 0, len(b.sets)*p.classes)
	for _, row := range in {
		p.has = append(p.has, row...)
	}
	return p
}

// Len returns the number of members.
func (p *Program) Len() int { return len(p.members) }

func (p *Program) in(set int32, class int) bool { return p.has[int(set)*p.classes+class] }

// row returns which classes are in a set.
func (p *Program) row(set int32) []bool { return p.has[int(set)*p.classes:][:p.classes] }
