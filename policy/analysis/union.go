package analysis

import (
	"encoding/binary"
	"slices"

	"github.com/stopgate/stopgate/internal/automaton"
)

// union walks several automata at once and accepts what one of them does. Its
// states are made while it is walked.
type union struct {
	parts  []automaton.Walker
	ids    map[string]uint32
	states [][]uint32
	key    []byte
}

var _ automaton.Walker = (*union)(nil)

func newUnion(parts []automaton.Walker) *union {
	return &union{parts: parts, ids: make(map[string]uint32), key: make([]byte, 4*len(parts))}
}

func (u *union) First() uint32 {
	state := make([]uint32, len(u.parts))
	for i, w := range u.parts {
		state[i] = w.First()
	}
	return u.id(state)
}

func (u *union) id(state []uint32) uint32 {
	for i, s := range state {
		binary.LittleEndian.PutUint32(u.key[4*i:], s)
	}
	id, ok := u.ids[string(u.key)]
	if !ok {
		id = uint32(len(u.states))
		u.ids[string(u.key)] = id
		u.states = append(u.states, slices.Clone(state))
	}
	return id
}

func (u *union) Next(state uint32, r rune) uint32 {
	next := make([]uint32, len(u.parts))
	for i, w := range u.parts {
		next[i] = w.Next(u.states[state][i], r)
	}
	return u.id(next)
}

func (u *union) Accepting(state uint32) bool {
	for i, w := range u.parts {
		if w.Accepting(u.states[state][i]) {
			return true
		}
	}
	return false
}

func (u *union) Fate(state uint32) automaton.Fate {
	rejects := true
	for i, w := range u.parts {
		switch w.Fate(u.states[state][i]) {
		case automaton.Accepts:
			return automaton.Accepts
		case automaton.Open:
			rejects = false
		}
	}
	if rejects {
		return automaton.Rejects
	}
	return automaton.Open
}

func (u *union) Cuts() []rune {
	var cuts []rune
	for _, w := range u.parts {
		cuts = append(cuts, w.Cuts()...)
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}
