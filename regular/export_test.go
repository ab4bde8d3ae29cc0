package regular

import "github.com/stopgate/stopgate/internal/alternating"

// JoinWithin is Join with limits, so that tests reach what only large automata do.
func JoinWithin(l alternating.Limits, members ...*Language) *Automaton {
	return &Automaton{program(members).Table(l)}
}
