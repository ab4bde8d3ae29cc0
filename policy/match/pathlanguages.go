package match

import "github.com/stopgate/stopgate/regular"

// languages are conditions on complete paths as one automaton.
type languages struct {
	members []int32
	sets    []*regular.Language
	machine *regular.Automaton
}

func (l *languages) add(set *regular.Language, member int32) {
	l.members, l.sets = append(l.members, member), append(l.sets, set)
}

func (l *languages) build() {
	if len(l.sets) > 0 {
		l.machine, l.sets = regular.JoinWhole(l.sets...), nil // paths are judged when they are complete (K13)
	}
}

func (p patterns) language() *regular.Language {
	var all []*regular.Language
	for _, one := range p {
		all = append(all, one.Language())
	}
	return regular.Union(all...)
}

// find appends the members whose language holds a text, given in pieces.
func (l *languages) find(members []int32, text ...[]byte) []int32 {
	s := l.machine.Start()
	for k, piece := range text {
		if k > 0 && len(piece) > 0 && string(text[0]) != string(rootMark) {
			feedAll(l.machine, &s, separator)
		}
		feedAll(l.machine, &s, piece)
	}
	return Holding(l.machine, &s, l.members, members)
}

var separator = []byte("/")

func feedAll(a *regular.Automaton, s *regular.State, text []byte) {
	for len(text) > 0 && !a.Decided(s) {
		n, _ := a.Feed(s, text)
		text = text[n:]
	}
}
