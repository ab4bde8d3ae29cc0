package symbolic

import (
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/schema"
)

// How a value occurs in the texts of a source.
const (
	nowhere = 'n' // no reading of the value occurs there
	perhaps = 'p' // some reading of it may
	surely  = 's' // the value does, as it is written
	// lacking is the letter of every source for a value that an optional parameter lacks: such a
	// value satisfies permissive conditions and no restrictive one.
	lacking = 'l'
)

// widening is a set of the keys by which a condition looks for more.
type widening int

const (
	byRelation widening = 1 << iota // host of a URL, below of a path
	byWeak
	bySegments

	widenings = 1 << iota
)

// occurrence is how a value occurs for each widening. A value that occurs for one occurs for every
// wider one.
type occurrence [widenings]byte

// firstLetter is the letter of the first of all occurrences, the one nowhere.
const firstLetter = '\u0100'

// occurrences lists all of them, by their letter.
var occurrences = sync.OnceValue(func() (all []occurrence) {
	const states = string(nowhere) + string(perhaps) + string(surely)
	var add func(o occurrence, n int)
	add = func(o occurrence, n int) {
		if n == widenings {
			all = append(all, o)
			return
		}
		least := 0
		for narrow := range n {
			if narrow&n == narrow {
				least = max(least, strings.IndexByte(states, o[narrow]))
			}
		}
		for _, state := range []byte(states[least:]) {
			o[n] = state
			add(o, n+1)
		}
	}
	add(occurrence{}, 0)
	return all
})

// occurrenceOf returns the occurrence of a letter; false for the letter lacking.
func occurrenceOf(letter rune) (o occurrence, ok bool) {
	if i := int(letter - firstLetter); i >= 0 && i < len(occurrences()) {
		return occurrences()[i], true
	}
	return o, false
}

// written are the letters of a value that is there.
func written() automaton.Set {
	return automaton.Ranges(firstLetter, firstLetter+rune(len(occurrences()))-1)
}

// lettersOf are the letters of values that are in one of some states for a widening.
func lettersOf(w widening, states string) automaton.Set {
	var spans []automaton.Span
	for i, o := range occurrences() {
		if strings.IndexByte(states, o[w]) >= 0 {
			spans = append(spans, automaton.Span{Low: firstLetter + rune(i), High: firstLetter + rune(i)})
		}
	}
	if strings.IndexByte(states, lacking) >= 0 {
		spans = append(spans, automaton.Span{Low: lacking, High: lacking})
	}
	return automaton.Of(spans)
}

// widened returns the keys by which a condition is widened.
func widened(k *Condition) (w widening) {
	set := func(key string, bit widening) {
		if v, _ := k.Spec.Option(key); v.Text == "true" {
			w |= bit
		}
	}
	set("weak", byWeak)
	set("segments", bySegments)
	if r := relationOf(k); r != flow.SameValue && r == naturalOf(&k.Target) {
		w |= byRelation
	}
	return w
}

// relationOf returns the relation of a condition.
func relationOf(k *Condition) flow.Relation {
	v, _ := k.Spec.Option("relation")
	return flow.Relation(max(0, slices.Index(flow.Relations(), v.Text)))
}

// naturalOf returns the relation that widens conditions on a target: values of other kinds have none.
func naturalOf(t *condition.Target) flow.Relation {
	switch {
	case t.As == flow.URL, t.As == flow.Text && t.Annotation == schema.URL:
		return flow.SameHost
	case t.As == flow.Path, t.As == flow.Text && t.Annotation == schema.Path:
		return flow.Below
	}
	return flow.SameValue
}

// widening returns that of a query, false if conditions on the variable have another relation.
func (o *originVariable) widening(q *flow.Query) (w widening, ok bool) {
	if q.Weak {
		w |= byWeak
	}
	if q.Segments {
		w |= bySegments
	}
	switch {
	case q.Relation == o.relation:
		return w, true
	case o.relation == flow.SameValue && q.Relation == o.natural:
		return w | byRelation, true
	}
	return w, false
}
