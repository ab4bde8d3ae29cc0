package naiveflow

import (
	"slices"
	"strings"
)

// written lists the texts that calls with an effect wrote before an event; a tool that nothing
// declares counts as one.
func (v *View) written(before int) (texts []string) {
	for i := range v.Events[:before] {
		e := &v.Events[i]
		if e.Kind != "call" || !v.Policy.Effects[e.Tool] && v.Policy.Tables[e.Tool] {
			continue
		}
		texts = append(texts, echoOf(e)...)
	}
	return texts
}

// unread reports whether a call reads nothing that the agent wrote: no argument is one of those that it
// wrote.
func (v *View) unread(i int, e *Event) bool {
	return v.untouched(i, echoOf(e), func(arg, text string) bool { return folded(strings.TrimSpace(arg)) == folded(strings.TrimSpace(text)) }, "reads")
}

// unwritten reports whether the agent did not write a text.
func (v *View) unwritten(i int, text string) bool {
	return v.untouched(i, []string{text}, func(text, written string) bool {
		return folded(strings.TrimSpace(text)) == folded(strings.TrimSpace(written)) && len(text) <= 200
	}, "wrote")
}

func (v *View) untouched(i int, texts []string, equal func(a, b string) bool, question string) bool {
	a := Yes
	for _, w := range v.written(i) {
		for _, t := range texts {
			switch {
			case equal(t, w):
				return v.is(min(a, Either), question, t, w)
			case slices.ContainsFunc(runs(t), func(word string) bool { return strings.Contains(squeezed(w), word) }),
				slices.ContainsFunc(runs(w), func(word string) bool { return strings.Contains(squeezed(t), word) }):
				a = Either
			}
		}
	}
	return v.is(a, append([]string{question}, texts...)...)
}
