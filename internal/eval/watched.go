package eval

import (
	"slices"

	"github.com/stopgate/stopgate/jsonstream"
)

// maxWatched bounds the text of a watched value, in bytes. A longer one is not reported.
const maxWatched = 1024

// watched holds the first string that is complete among some members of the arguments.
type watched struct {
	pointers []jsonstream.Pointer
	current  int // index of the pointer to the member that is arriving, -1 for another member
	found    jsonstream.Pointer
	value    []byte // as JSON
}

// Watch selects members of the arguments, by pointers of one token each. [Evaluation.Watched]
// returns the first of them that is a complete string. Reset ends it.
func (e *Evaluation) Watch(pointers []jsonstream.Pointer) {
	e.watched = watched{pointers: pointers, current: -1}
}

// Watched returns the pointer and the JSON text of the first watched member that is a complete
// string of at most 1,024 bytes, and ok false while there is none (S8).
func (e *Evaluation) Watched() (pointer jsonstream.Pointer, json []byte, ok bool) {
	w := &e.watched
	return w.found, w.value, w.found != nil
}

// watch takes an event of the arguments, before the position moves.
func (e *Evaluation) watch(ev *jsonstream.Event) {
	w := &e.watched
	if w.found != nil || len(e.spine.steps) != 1 {
		return
	}
	switch ev.Kind {
	case jsonstream.Key:
		w.current = slices.IndexFunc(w.pointers, func(p jsonstream.Pointer) bool { return p[0] == string(ev.Text) })
	case jsonstream.StringEnd:
		if w.current >= 0 && len(e.value.Text()) <= maxWatched {
			w.found, w.value = w.pointers[w.current], jsonstream.AppendQuote(nil, []byte(e.value.Text()))
		}
	}
}
