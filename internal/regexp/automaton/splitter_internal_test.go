package automaton

import "testing"

// Sets that overlap again and again divide the classes into as many kinds as there are
// classes at most. The work for one state of a DFA is in the number of kinds.
func TestKindsAreNoMoreThanClasses(t *testing.T) {
	const classes = 40
	var of [][]uint16
	for without := range uint16(classes) {
		for range 3 {
			var members []uint16
			for c := range uint16(classes) {
				if c != without {
					members = append(members, c)
				}
			}
			of = append(of, members)
		}
	}
	w := newSplitter(of, classes)
	if len(w.wide) != classes {
		t.Errorf("%d kinds of %d classes", len(w.wide), classes)
	}
	for set, members := range of {
		for kind := range len(w.wide) {
			contains := false
			for _, k := range w.in[set] {
				contains = contains || k == kind
			}
			for _, c := range members {
				if w.kind[c] == kind && !contains {
					t.Errorf("set %d lacks the kind of its class %d", set, c)
				}
			}
		}
	}
}
