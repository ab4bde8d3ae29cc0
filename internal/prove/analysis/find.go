package analysis

import (
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Find searches the shortest text that is in all of some languages and in none of
// others, and is accepted.
func Find(inside, outside []automaton.Walker, accept func(string) bool) (string, regular.Answer) {
	s := newSolver(List{}, Budget{})
	p := s.product(inside, outside, nil)
	p.check = accept
	switch text, st := p.search(); st {
	case found:
		return text, regular.Yes
	case absent:
		return "", regular.No
	}
	return "", regular.NotProven
}
