package eval

import (
	"slices"

	"github.com/stopgate/stopgate"
)

// Asking returns everything that requires an approval of the call, in the order of the lists: the
// ids of the rules that ask, and the code of every list that asks because none of its rules
// matched. The verdict names one of them; a caller that skips questions has to consider all (S34).
// If several rules could decide a list, each of them is returned; of guards in one table of
// literals only the first.
func (e *decision) Asking() (names []string) {
	if e.plan == nil {
		return nil
	}
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range e.plan.lists {
		l, st := &e.plan.lists[i], &e.lists[i]
		if st.dirty {
			e.walk(i)
		}
		if l.commands == 0 {
			e.asking(l, noLane, add)
			continue
		}
		found := false
		for lane := range e.ways(i) {
			e.asking(l, lane, add)
			found = true
		}
		if !found {
			e.asking(l, st.lane, add)
		}
	}
	return names
}

// asking adds the names of one list, for one lane.
func (e *decision) asking(l *list, lane int32, add func(string)) {
	for r := l.first; r < l.end; r++ {
		rule, p := &e.plan.rules[r], e.phaseOf(r, lane)
		if p == failed || l.suspects && p == waiting {
			continue
		}
		switch {
		case !rule.mode.Permissive():
			add(string(rule.ref.ID))
		case e.lacking(r) != nil:
			add(string(stopgate.CodeParameterNotCovered))
		}
		if p == holds && !l.guard {
			return
		}
	}
	if !l.guard && !l.fallback.Permissive() {
		add(string(l.code))
	}
}
