package commandline

import "github.com/stopgate/stopgate/internal/condition/shell"

// wholeForms are the results of conditions for the parts of a line that belong to no single command: its text, and the
// commands of its other form. A condition that is evaluated for every command of the line evaluates them once.
type wholeForms struct {
	few  []wholeForm
	more map[wholeTest]bool
}

type wholeForm struct {
	test wholeTest
	hit  bool
}

// wholeTest evaluates the parts of a line that belong to no single command.
type wholeTest interface{ whole(v *Value) bool }

// fewForms is the number of results that are searched linearly and whose memory is reused.
const fewForms = 32

func (w *wholeForms) reset() { w.few, w.more = w.few[:0], nil }

// whole returns the result of a condition, evaluated once if the line has several commands.
func (v *Value) whole(t wholeTest) bool {
	if len(v.Line().Commands) < 2 {
		return t.whole(v)
	}
	w := &v.wholes
	for _, f := range w.few {
		if f.test == t {
			return f.hit
		}
	}
	if hit, ok := w.more[t]; ok {
		return hit
	}
	hit := t.whole(v)
	if len(w.few) < fewForms {
		w.few = append(w.few, wholeForm{t, hit})
		return hit
	}
	if w.more == nil {
		w.more = make(map[wholeTest]bool)
	}
	w.more[t] = hit
	return hit
}

// whole reports whether the line as a text, or a command of its other form, satisfies the condition.
func (t *Test) whole(v *Value) bool {
	return (t.text != nil || t.odd) && t.raw(v.text) || otherHolds(v, t.suspects)
}

// whole reports whether a command of the line's other form satisfies the condition.
func (t *PathTest) whole(v *Value) bool { return otherHolds(v, t.suspects) }

// otherHolds reports whether a condition holds for a command of the line's other form.
func otherHolds(v *Value, suspects func(v *Value, l *shell.Line, i int) bool) bool {
	other := v.OtherLine()
	if other == nil {
		return false
	}
	for i := range other.Commands {
		if suspects(v, other, i) {
			return true
		}
	}
	return false
}
