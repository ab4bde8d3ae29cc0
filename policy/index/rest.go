package index

import (
	"math/bits"

	"github.com/stopgate/stopgate/internal/automaton"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/regular"
)

// rest are the conditions on plain strings that no literal says: patterns, globs and
// suffixes. They run as one automaton; a few of them, whose automaton would be too large
// to know their fates early, as one each.
type rest struct {
	parts []part
	part  []int32 // of each member, -1 if it has none
	place []int32 // of each member in its part
}

// part is one automaton and its members.
type part struct {
	members []int32
	sets    []*regular.Language
	machine *regular.Automaton
}

// fewParts bounds how many automata run side by side.
const fewParts = 8

func (r *rest) add(m Member, l *regular.Language) {
	for int(m.ID) >= len(r.part) {
		r.part, r.place = append(r.part, -1), append(r.place, -1)
	}
	if len(r.parts) == 0 {
		r.parts = make([]part, 1)
	}
	p := &r.parts[0]
	r.part[m.ID], r.place[m.ID] = 0, int32(len(p.members))
	p.members, p.sets = append(p.members, m.ID), append(p.sets, l)
}

func (r *rest) build() {
	if len(r.parts) == 0 {
		return
	}
	all := r.parts[0]
	r.parts[0].machine = regular.Join(all.sets...)
	if n := len(all.members); n == 1 || n > fewParts || r.parts[0].machine.Exact() {
		r.parts[0].sets = nil
		return
	}
	r.parts = r.parts[:0]
	for i, m := range all.members {
		r.part[m], r.place[m] = int32(i), 0
		r.parts = append(r.parts, part{members: all.members[i : i+1], machine: regular.Join(all.sets[i])})
	}
}

// start begins a text.
func (r *rest) start(s []regular.State) []regular.State {
	s = s[:0]
	for i := range r.parts {
		s = append(s, r.parts[i].machine.Start())
	}
	return s
}

// decided reports whether nothing more can be learned.
func (r *rest) decided(s []regular.State) bool {
	for i := range r.parts {
		if !r.parts[i].machine.Decided(&s[i]) {
			return false
		}
	}
	return true
}

// feed reads text up to the first code point that shows something. Several automata go
// side by side, so that none is ahead of what another one finds.
func (r *rest) feed(s []regular.State, text []byte) (read int, changed bool) {
	if len(r.parts) == 1 {
		return r.parts[0].machine.Feed(&s[0], text)
	}
	for read < len(text) && !changed {
		point := text[read : read+match.PointLength(text[read:])]
		for i := range r.parts {
			_, found := r.parts[i].machine.Feed(&s[i], point)
			changed = changed || found
		}
		read += len(point)
	}
	return read, changed
}

// fate is what is known of a member behind the text so far; one that is not here
// rejects.
func (r *rest) fate(s []regular.State, member int32) automaton.Fate {
	if int(member) >= len(r.part) || r.part[member] < 0 {
		return automaton.Rejects
	}
	p := r.part[member]
	return r.parts[p].machine.Fate(&s[p], int(r.place[member]))
}

// accepted and open are the members of one fate, 64 of them as bits.
func accepted(a *regular.Automaton, s *regular.State, word int) uint64 { return a.Accepted(s)[word] }

func open(a *regular.Automaton, s *regular.State, word int) uint64 {
	return ^a.Accepted(s)[word] &^ a.Rejected(s)[word]
}

// each calls f for the members of one fate.
func (r *rest) each(s []regular.State, which func(*regular.Automaton, *regular.State, int) uint64, f func(member int32)) {
	for k := range r.parts {
		p := &r.parts[k]
		for word := 0; 64*word < len(p.members); word++ {
			for left := which(p.machine, &s[k], word); left != 0; left &= left - 1 {
				i := 64*word + bits.TrailingZeros64(left)
				if i >= len(p.members) {
					break
				}
				f(p.members[i])
			}
		}
	}
}

// end appends the members that hold for the text so far as a whole.
func (r *rest) end(s []regular.State, members []int32) []int32 {
	for i := range r.parts {
		members = match.Holding(r.parts[i].machine, &s[i], r.parts[i].members, members)
	}
	return members
}
