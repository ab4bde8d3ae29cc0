package match

import "github.com/stopgate/stopgate/regular"

// ProtectedLine is a line of the built-in list as tests see it.
type ProtectedLine struct {
	Glob, Names string
	Protection  Protection
	Paths       *regular.Language // the folded canonical paths that it is about
}

// Lines returns the built-in list.
func (p *Protected) Lines() (all []ProtectedLine) {
	for _, l := range p.lines {
		if l.names != "" {
			all = append(all, ProtectedLine{l.glob, l.names, l.protection, regular.FromNFA(l.test().nfa())})
		}
	}
	return all
}
