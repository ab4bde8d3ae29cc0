package regular

import (
	"github.com/stopgate/stopgate/internal/regexp/alternating"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Automaton runs a list of languages over one text that is still arriving, at the
// cost of one. It is immutable for its users and safe for concurrent use: the
// states that it makes while it runs are bounded, and discarded when there are too
// many.
//
// Where the languages have few states together, the fate of each is known after
// the first code point that determines it. Otherwise it is known when no part of
// the language can match any more, or one has matched for every continuation.
type Automaton struct{ table *alternating.Table }

// Join makes the automaton of a list of languages. Members are named by their
// index in the list.
func Join(members ...*Language) *Automaton {
	return &Automaton{program(members).Table(alternating.Limits{})}
}

// JoinWhole is Join for texts that are complete when they are asked about. It makes
// no states beforehand, so that the first text costs only its own states; every answer
// about a complete text is that of Join.
func JoinWhole(members ...*Language) *Automaton {
	return &Automaton{program(members).Table(alternating.Limits{Work: -1})}
}

// Exact reports whether the languages have so few states together that the fate of
// each is known after the first code point that determines it.
func (a *Automaton) Exact() bool { return a.table.Exact() }

// Len returns the number of members.
func (a *Automaton) Len() int { return a.table.Program().Len() }

// State is the state of an automaton in one text. It is a value: a copy goes on
// independently. The zero State belongs to no automaton; see Start.
type State struct{ at alternating.State }

// Start returns the state before any text.
func (a *Automaton) Start() State { return State{a.table.Start()} }

// Feed reads text up to and including the first code point at which the fate of a
// member changes, and returns the number of bytes read: len(text) also if no
// fate changed, which changed reports. Text may be cut anywhere, inside of code points
// too. Once every member is decided it reads everything at no cost. It allocates
// only for states that the automaton sees for the first time.
//
// Bytes that are not UTF-8 are read as U+FFFD each.
func (a *Automaton) Feed(s *State, text []byte) (read int, changed bool) {
	return a.table.Feed(&s.at, text)
}

// Fate returns the fate of a member: Accepts or Rejects if no further
// text changes whether the whole text is in its language.
func (a *Automaton) Fate(s *State, member int) automaton.Fate { return a.table.Fate(&s.at, member) }

// Accepts reports whether the text that was fed, taken as complete, is in the
// language of a member.
func (a *Automaton) Accepts(s *State, member int) bool { return a.table.Accepts(&s.at, member) }

// Decided reports whether no member is open.
func (a *Automaton) Decided(s *State) bool { return a.table.Decided(&s.at) }

// Accepted and Rejected return the members that are decided, as bits: member i is
// bit i%64 of word i/64. The slices are shared and must not be changed.
func (a *Automaton) Accepted(s *State) []uint64 { return a.table.Accepted(&s.at) }

// Rejected: see Accepted.
func (a *Automaton) Rejected(s *State) []uint64 { return a.table.Rejected(&s.at) }
