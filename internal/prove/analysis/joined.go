package analysis

import (
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// joined asks many languages about a text at the cost of one.
type joined struct {
	automaton *regular.Automaton
	languages []*regular.Language
	entries   []entry
}

// together is how many languages are joined at first. Two automata of the same size
// become one, so that few are asked however many languages there are, and each language
// is joined a few times only.
const together = 8

// join joins the languages of conditions once there are enough of them.
func (c *column) join() {
	ready := 0
	for _, e := range c.single {
		if e.condition.Set.Texts.Language != nil {
			ready++
		}
	}
	if ready < together {
		return
	}
	var j joined
	c.single = slices.DeleteFunc(c.single, func(e entry) bool {
		t := &e.condition.Set.Texts
		if t.Language == nil {
			return false
		}
		j.entries, j.languages = append(j.entries, e), append(j.languages, t.Language())
		return true
	})
	for n := len(c.joined); n > 0 && len(c.joined[n-1].entries) <= len(j.entries); n-- {
		before := &c.joined[n-1]
		j.entries, j.languages = slices.Concat(before.entries, j.entries), slices.Concat(before.languages, j.languages)
		c.joined = c.joined[:n-1]
	}
	j.automaton = regular.JoinWhole(j.languages...)
	c.joined = append(c.joined, j)
}

// find hands on the rules whose language a text is in.
func (j *joined) find(text string, take func(int32, bool)) {
	j.run(text, take, func(*Texts) bool { return true })
	if lower := foldASCII(text); lower != text {
		j.run(lower, take, func(t *Texts) bool { return t.CaseToo })
	}
}

func (j *joined) run(text string, take func(int32, bool), counts func(*Texts) bool) {
	s := j.automaton.Start()
	for rest := []byte(text); len(rest) > 0; {
		read, _ := j.automaton.Feed(&s, rest)
		rest = rest[read:]
	}
	rejected := j.automaton.Rejected(&s)
	for i, e := range j.entries {
		if rejected[i/64]>>(i%64)&1 == 0 && j.automaton.Accepts(&s, i) && counts(&e.condition.Set.Texts) {
			take(e.rule, true)
			return // the first of them
		}
	}
}
