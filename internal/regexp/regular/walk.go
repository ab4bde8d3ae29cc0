package regular

import "github.com/stopgate/stopgate/internal/regexp/automaton"

// Walker returns an automaton of the language that is walked code point by code
// point, for products of automata of different kinds; nil if it would have
// too many states.
func (l *Language) Walker() automaton.Walker {
	if w := program([]*Language{l}).Walk(); w != nil {
		return w
	}
	return nil
}
