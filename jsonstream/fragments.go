package jsonstream

import (
	"strconv"

	"github.com/stopgate/stopgate"
)

// Fragment is one step in the construction of a value: a scalar, a part of a string, or the
// end of a value, with its whole path from the root (F043-01). Fragments are ephemeral: a
// fragment is valid only during the call that delivers it and is never stored (F043-07).
type Fragment struct {
	// Index is the number of the call in its response, counted from 0.
	Index int
	Call  stopgate.CallID
	Tool  stopgate.ToolName
	Path  []Segment
	// Kind is Number, True, False or Null for a scalar, String for a part of a string, and
	// End for Done. Invalid is a call whose arguments were refused for Err.
	Kind Kind
	// Text is the literal of a scalar or the decoded part of a string.
	Text []byte
	// Ended is the kind of the value that a Done ends: Object, Array, String, or Number for
	// every scalar. It distinguishes an empty object from an empty array.
	Ended Kind
	Err   *Error
}

// Segment is one step of a path: a member of an object or an element of an array.
type Segment struct {
	Key     string
	Index   int
	InArray bool // the step is Index, not Key
}

// Append appends the text form of the fragment, which nests:
//
//	ObjectEntry{patterns: ArrayItem{0, String("src/")}}
func (f *Fragment) Append(dst []byte) []byte {
	for _, s := range f.Path {
		if s.InArray {
			dst = append(dst, "ArrayItem{"...)
			dst = append(strconv.AppendInt(dst, int64(s.Index), 10), ", "...)
			continue
		}
		dst = append(dst, "ObjectEntry{"...)
		if isWord(s.Key) {
			dst = append(dst, s.Key...)
		} else {
			dst = AppendQuote(dst, s.Key)
		}
		dst = append(dst, ": "...)
	}
	switch f.Kind {
	case String:
		dst = append(AppendQuote(append(dst, "String("...), f.Text), ')')
	case End:
		dst = append(dst, "Done"...)
	case Invalid:
		dst = append(append(append(dst, "Error("...), f.Err.Code...), ')')
	default:
		dst = append(append(append(dst, "Scalar("...), f.Text...), ')')
	}
	for range f.Path {
		dst = append(dst, '}')
	}
	return dst
}

// isWord reports whether a key is written without quotes in the text form.
func isWord(key string) bool {
	for i := range len(key) {
		c := key[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return key != ""
}

// FragmentWriter is a [Handler] that converts events into fragments. The zero
// FragmentWriter collects their text form, one per line, for tests and traces.
type FragmentWriter struct {
	// Index, Call and Tool are set in every fragment.
	Index int
	Call  stopgate.CallID
	Tool  stopgate.ToolName
	// Emit receives the fragments instead of the text form, if it is set. If it returns
	// stop, the parser stops.
	Emit func(f *Fragment) (stop bool)

	path    []Segment
	piece   []byte
	started bool // the current string has had a part
	text    []byte
}

var _ Handler = (*FragmentWriter)(nil)

// Event processes one event of a [Parser].
func (w *FragmentWriter) Event(e *Event) (stop bool) {
	switch e.Kind {
	case ObjectStart:
		w.path = append(w.path, Segment{})
	case ArrayStart:
		w.path = append(w.path, Segment{InArray: true})
	case ObjectEnd, ArrayEnd:
		w.path = w.path[:len(w.path)-1]
		return w.done(e.Kind)
	case Key:
		w.path[len(w.path)-1].Key = string(e.Text)
	case StringStart:
		w.piece, w.started = w.piece[:0], false
	case StringPart:
		w.piece = append(w.piece, e.Text...)
	case StringEnd:
		if !w.started || len(w.piece) > 0 {
			stop = w.emit(String, w.piece)
		}
		return stop || w.done(String)
	case Number:
		return w.emit(Number, e.Text) || w.done(Number)
	case True, False, Null:
		return w.emit(e.Kind, []byte(e.Kind.String())) || w.done(Number)
	}
	return false
}

// Flush ends the current part of a string. Called after each Feed, it makes one part of the
// text of a chunk; without it, a string is one part.
func (w *FragmentWriter) Flush() (stop bool) {
	if len(w.piece) == 0 {
		return false
	}
	stop = w.emit(String, w.piece)
	w.piece, w.started = w.piece[:0], true
	return stop
}

// String returns the text form of the fragments so far, one per line.
func (w *FragmentWriter) String() string { return string(w.text) }

// done ends a value at its level and moves to the next element (F043-02).
func (w *FragmentWriter) done(ended Kind) (stop bool) {
	w.piece = w.piece[:0]
	switch ended {
	case ObjectEnd:
		ended = Object
	case ArrayEnd:
		ended = Array
	}
	stop = w.deliver(&Fragment{Kind: End, Ended: ended})
	if n := len(w.path); n > 0 && w.path[n-1].InArray {
		w.path[n-1].Index++
	}
	return stop
}

func (w *FragmentWriter) emit(kind Kind, text []byte) (stop bool) {
	return w.deliver(&Fragment{Kind: kind, Text: text})
}

func (w *FragmentWriter) deliver(f *Fragment) (stop bool) {
	f.Index, f.Call, f.Tool, f.Path = w.Index, w.Call, w.Tool, w.path
	if w.Emit != nil {
		return w.Emit(f)
	}
	w.text = append(f.Append(w.text), '\n')
	return false
}
