package protected

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// ProtectedLine is a line of the built-in list.
type ProtectedLine struct {
	Glob, Names string
	Protection  condition.Protection
	Paths       *regular.Language // the folded canonical paths that it matches
}

// Lines returns the built-in list.
func (p *List) Lines() (all []ProtectedLine) {
	for _, l := range p.lines {
		if l.names != "" {
			all = append(all, ProtectedLine{l.glob, l.names, l.protection, regular.FromNFA(p.lineTest(l).Nfa())})
		}
	}
	return all
}
