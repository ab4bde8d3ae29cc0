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

// find appends the members whose language holds a text.
func (l *languages) find(members []int32, text []byte) []int32 {
	s := l.machine.Start()
	feedAll(l.machine, &s, text)
	return Holding(l.machine, &s, l.members, members)
}

// findBelow is find for what an automaton reads for a path below the root: the mark of the
// root, and the path behind a separator.
func (l *languages) findBelow(members []int32, mark, rel []byte) []int32 {
	s := l.machine.Start()
	feedAll(l.machine, &s, mark)
	if len(rel) > 0 && string(mark) != string(rootMark) {
		feedAll(l.machine, &s, separator)
	}
	feedAll(l.machine, &s, rel)
	return Holding(l.machine, &s, l.members, members)
}

var separator = []byte("/")

func feedAll(a *regular.Automaton, s *regular.State, text []byte) {
	for len(text) > 0 {
		n, changed := a.Feed(s, text)
		if !changed {
			return // all of it was read, or nothing more can be learned
		}
		text = text[n:]
	}
}
