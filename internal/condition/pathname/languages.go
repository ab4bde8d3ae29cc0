package pathname

import (
	"sync"

	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// languages are conditions on complete paths. Globs are evaluated one by one for the first few
// texts; then they are one automaton, as patterns are from the start.
type languages struct {
	members []int32
	globs   []*PathStates
	sets    []*regular.Language // instead, of patterns
	walked  walkedBytes
	once    sync.Once
	machine *regular.Automaton
}

func (l *languages) addGlob(states *PathStates, member int32) {
	l.members, l.globs = append(l.members, member), append(l.globs, states)
}

func (l *languages) addPattern(set *regular.Language, member int32) {
	l.members, l.sets = append(l.members, member), append(l.sets, set)
}

// automaton returns the combined automaton, built once. Paths are evaluated when they are complete
// (K13).
func (l *languages) automaton() *regular.Automaton {
	l.once.Do(func() {
		sets := l.sets
		for _, g := range l.globs {
			sets = append(sets, regular.FromNFA(g.Nfa()))
		}
		l.machine = regular.JoinWhole(sets...)
	})
	return l.machine
}

// find appends the members whose language holds a text.
func (l *languages) find(members []int32, text []byte) []int32 {
	if l.globs != nil && l.walked.more(text) {
		for i, g := range l.globs {
			if g.walk(text) {
				members = append(members, l.members[i])
			}
		}
		return members
	}
	machine := l.automaton()
	s := machine.Start()
	plaintext.FeedAll(machine, &s, text)
	return plaintext.Holding(machine, &s, l.members, members)
}

// findBelow is find for a path below the root: the automaton reads the mark of the root, a
// separator and the path.
func (l *languages) findBelow(members []int32, mark, rel []byte) []int32 {
	if l.globs != nil && l.walked.more(rel) {
		for i, g := range l.globs {
			if g.walkBelow(mark, rel) {
				members = append(members, l.members[i])
			}
		}
		return members
	}
	machine := l.automaton()
	s := machine.Start()
	plaintext.FeedAll(machine, &s, mark)
	if len(rel) > 0 && string(mark) != string(glob.Root) {
		plaintext.FeedAll(machine, &s, pathform.Separator)
	}
	plaintext.FeedAll(machine, &s, rel)
	return plaintext.Holding(machine, &s, l.members, members)
}
