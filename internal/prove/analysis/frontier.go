package analysis

import (
	"encoding/binary"
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// frontier holds the states that a search has met, and orders those that it has not looked
// at: by the length of the shortest text that may lead through them, and by the order in which
// they were met.
type frontier struct {
	width  int
	states []uint32 // width numbers each
	steps  []visit
	seen   map[string]int32 // the depth at which a state was met
	key    []byte
	open   [][]int32 // steps by the length of the text that may lead through them
	length int       // no shorter text is open
}

// visit is how a state was met: from another one by a code point.
type visit struct {
	from, depth int32
	r           rune
}

// add adds a state that is met from another one, with its distance to acceptance. It skips a
// state that was met as early before.
func (f *frontier) add(state []uint32, from int32, r rune, distance int) {
	if distance == automaton.Unreachable {
		return
	}
	depth := int32(0)
	if from != none {
		depth = f.steps[from].depth + 1
	}
	for i, s := range state {
		binary.LittleEndian.PutUint32(f.key[4*i:], s)
	}
	if met, ok := f.seen[string(f.key)]; ok && met <= depth {
		return
	}
	f.seen[string(f.key)] = depth
	f.states = append(f.states, state...)
	f.steps = append(f.steps, visit{from, depth, r})
	length := max(int(depth)+distance, f.length)
	for len(f.open) <= length {
		f.open = append(f.open, nil)
	}
	f.open[length] = append(f.open[length], int32(len(f.steps)-1))
}

// next takes the state to look at next, none if there are no more.
func (f *frontier) next() int32 {
	for ; f.length < len(f.open); f.length++ {
		for list := f.open[f.length]; len(list) > 0; list = f.open[f.length] {
			at := list[0]
			f.open[f.length] = list[1:]
			if f.current(at) {
				return at
			}
		}
	}
	return none
}

// current reports that a state was not met earlier than by a step.
func (f *frontier) current(at int32) bool {
	for i, s := range f.state(at) {
		binary.LittleEndian.PutUint32(f.key[4*i:], s)
	}
	return f.seen[string(f.key)] == f.steps[at].depth
}

// state is valid until another one is added.
func (f *frontier) state(at int32) []uint32 {
	return f.states[int(at)*f.width : int(at+1)*f.width]
}

// word is the text that leads to a state.
func (f *frontier) word(at int32) string {
	var word []rune
	for ; f.steps[at].from != none; at = f.steps[at].from {
		word = append(word, f.steps[at].r)
	}
	slices.Reverse(word)
	return string(word)
}
