package index

import (
	"math/bits"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// rest are the conditions on plain strings without literals: patterns, globs and suffixes, run as
// one automaton.
//
// The additional forms of restrictive conditions (K21) make automata large. A few conditions have
// the forms in their languages, with an automaton each if necessary. Many conditions are matched on
// the text itself while it arrives, and on its other forms at its end: their rejections count early
// as long as the forms cannot differ from the text.
type rest struct {
	restrictive bool
	matchers    []Member
	parts       []part
	part        []int32 // of each member, -1 if it has none
	index       []int32 // index of each member in its part
	formless    bool    // the languages do not include the forms
}

// part is one automaton and its members.
type part struct {
	members []int32
	machine *regular.Automaton
}

// fewParts is the maximum number of conditions whose languages include the forms.
const fewParts = 8

// restState is the state of the automata in a text, and how its forms may differ.
type restState struct {
	states    []regular.State
	begun     bool
	disguised bool // hidden code points were read, or the first one is blank
	blank     bool // the last code point is blank
	withheld  bool // something was rejected after a blank
}

func (s *restState) set(o *restState) {
	states := append(s.states[:0], o.states...)
	*s = *o
	s.states = states
}

func (r *rest) add(id int32, m *match.Matcher) {
	for int(id) >= len(r.part) {
		r.part, r.index = append(r.part, -1), append(r.index, -1)
	}
	r.matchers = append(r.matchers, Member{ID: id, Readings: []*match.Matcher{m}})
}

func (r *rest) build() {
	if len(r.matchers) == 0 {
		return
	}
	r.formless = r.restrictive && len(r.matchers) > fewParts
	var all part
	var sets []*regular.Language
	for i, m := range r.matchers {
		l := languageOf(m.Readings[0], !r.formless)
		all.members, sets = append(all.members, m.ID), append(sets, l)
		r.part[m.ID], r.index[m.ID] = 0, int32(i)
	}
	all.machine = regular.Join(sets...)
	r.parts, r.matchers = []part{all}, nil
	if n := len(sets); n == 1 || n > fewParts || all.machine.Exact() {
		return
	}
	r.parts = r.parts[:0]
	for i, m := range all.members {
		r.part[m], r.index[m] = int32(i), 0
		r.parts = append(r.parts, part{members: all.members[i : i+1], machine: regular.Join(sets[i])})
	}
}

// start begins a text.
func (r *rest) start(s *restState) {
	if len(r.parts) == 0 {
		return
	}
	*s = restState{states: s.states[:0]}
	for i := range r.parts {
		s.states = append(s.states, r.parts[i].machine.Start())
	}
}

// sure reports whether a member is decided before any text.
func (r *rest) sure() (sure bool) {
	var s restState
	r.start(&s)
	for _, p := range r.parts {
		for _, m := range p.members {
			sure = sure || r.fate(&s, m) != automaton.Open
		}
	}
	return sure
}

// decided reports whether no member can be decided any more.
func (r *rest) decided(s *restState) bool {
	for i := range r.parts {
		if !r.parts[i].machine.Decided(&s.states[i]) {
			return false
		}
	}
	return !s.withheld && !s.disguised
}

// lost reports whether every member rejects every continuation.
func (r *rest) lost(s *restState) bool {
	if !r.decided(s) {
		return false
	}
	for i := range r.parts {
		for _, word := range r.parts[i].machine.Accepted(&s.states[i]) {
			if word != 0 {
				return false
			}
		}
	}
	return true
}

// feed reads text up to the first code point that decides about a member. Several automata advance
// together, so that none is ahead of a decision of another one.
func (r *rest) feed(s *restState, text []byte) (read int, changed bool) {
	if len(text) == 0 {
		return 0, false
	}
	if r.formless {
		return r.feedText(s, text)
	}
	if len(r.parts) == 1 {
		return r.parts[0].machine.Feed(&s.states[0], text)
	}
	for read < len(text) && !changed {
		point := text[read : read+pointLength(text[read:])]
		for i := range r.parts {
			_, found := r.parts[i].machine.Feed(&s.states[i], point)
			changed = changed || found
		}
		read += len(point)
	}
	return read, changed
}

// feedText is feed if forms are evaluated at the end. A rejection after a blank counts only once
// more text follows, since the text may end with the blank.
func (r *rest) feedText(s *restState, text []byte) (read int, changed bool) {
	if s.withheld {
		text = text[:pointLength(text)]
	}
	read, changed = r.parts[0].machine.Feed(&s.states[0], text)
	first, last := blank(text[:read])
	s.disguised = s.disguised || !s.begun && first || disguises(text[:read])
	s.begun, s.blank = true, last
	if changed = changed || s.withheld; changed {
		s.withheld = last && !s.disguised
	}
	return read, changed
}

// rejects reports whether a rejection by the automata applies to all forms of the text.
func (s *restState) rejects() bool { return !s.disguised && !s.blank }

// fate returns the decision about a member after the text so far. A member that is not in rest is
// rejected.
func (r *rest) fate(s *restState, member int32) automaton.Fate {
	if int(member) >= len(r.part) || r.part[member] < 0 {
		return automaton.Rejects
	}
	p := r.part[member]
	fate := r.parts[p].machine.Fate(&s.states[p], int(r.index[member]))
	if fate == automaton.Rejects && r.formless && !s.rejects() {
		return automaton.Open
	}
	return fate
}

// accepted calls f for the members that accept every continuation.
func (r *rest) accepted(s *restState, f func(member int32)) {
	for k := range r.parts {
		bits := r.parts[k].machine.Accepted(&s.states[k])
		r.parts[k].each(func(word int) uint64 { return bits[word] }, f)
	}
}

// open calls f for the undecided members.
func (r *rest) open(s *restState, f func(member int32)) {
	for k := range r.parts {
		machine, state := r.parts[k].machine, &s.states[k]
		accepted, rejected := machine.Accepted(state), machine.Rejected(state)
		final := !r.formless || s.rejects()
		r.parts[k].each(func(word int) uint64 {
			if !final {
				return ^accepted[word]
			}
			return ^accepted[word] &^ rejected[word]
		}, f)
	}
}

// each calls f for the members of a bit set, 64 at a time.
func (p *part) each(set func(word int) uint64, f func(member int32)) {
	for word := 0; 64*word < len(p.members); word++ {
		for left := set(word); left != 0; left &= left - 1 {
			i := 64*word + bits.TrailingZeros64(left)
			if i >= len(p.members) {
				break
			}
			f(p.members[i])
		}
	}
}

// end appends the members that match a complete text, possibly repeated.
func (r *rest) end(s *restState, text []byte, members []int32) []int32 {
	for i := range r.parts {
		members = plaintext.Holding(r.parts[i].machine, &s.states[i], r.parts[i].members, members)
	}
	if !r.formless || len(r.parts) == 0 || s.rejects() || !utf8.Valid(text) {
		return members
	}
	for _, form := range spelling.Forms(string(text)) {
		machine := r.parts[0].machine
		state := machine.Start()
		for left := []byte(form); len(left) > 0; {
			n, _ := machine.Feed(&state, left)
			left = left[n:]
		}
		members = plaintext.Holding(machine, &state, r.parts[0].members, members)
	}
	return members
}
