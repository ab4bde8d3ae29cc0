// Package arguments follows the arguments of a call while they arrive, for whoever
// shows them: which parameters are complete, which one is streaming, and what there is
// of it.
//
//	var a arguments.Arguments
//	a.Feed([]byte(`{"path":"src/main.rs","content":"fn ma`))
//	a.Parameters() // path complete, content streaming with 5 bytes
//	a.Object()     // {"path":"src/main.rs"}
//
// It decides nothing: what may run is the gate's own copy. What it says of a text does
// not depend on how the text was cut.
package arguments

import (
	"bytes"
	"unicode/utf8"

	"github.com/stopgate/stopgate/jsonstream"
)

// Parameter is a top-level parameter of a call.
type Parameter struct {
	Name string
	// JSON is the complete value in our spelling, "" while it streams.
	JSON string
	// Bytes counts what has arrived: decoded bytes of a string, else bytes of JSON.
	Bytes int64
	// Head and Tail are the begin and the end of what has arrived of a value that
	// streams; together they are all of it, or they overlap, or something is missing
	// between them. Text says that they are text and not JSON.
	Head, Tail string
	Text       bool
}

// Complete reports whether the value is there to its end.
func (p Parameter) Complete() bool { return p.JSON != "" }

// Kept is how many bytes of a streaming value's begin and end are kept.
const Kept = 512

// Arguments are the arguments of one call. The zero value is ready. It is not safe for
// concurrent use.
type Arguments struct {
	parser *jsonstream.Parser
	value  jsonstream.Aggregator
	list   []Parameter
	depth  int
	began  int64 // offset at which the open value began
	full   bytes.Buffer
	raw    int64
	err    error
	ended  bool
}

// Feed takes the next bytes. What is no JSON, and what is behind it, changes nothing.
func (a *Arguments) Feed(chunk []byte) {
	if a.parser == nil {
		a.parser = jsonstream.NewParser(a, jsonstream.Options{ObjectRoot: true})
	}
	a.raw += int64(len(chunk))
	if a.err == nil {
		a.err = a.parser.Feed(chunk)
	}
}

// Event implements [jsonstream.Handler].
func (a *Arguments) Event(e *jsonstream.Event) (stop bool) {
	a.value.Event(e)
	switch e.Kind {
	case jsonstream.ObjectStart, jsonstream.ArrayStart:
		if a.depth++; a.depth == 2 {
			a.began = e.Offset - 1
		}
	case jsonstream.ObjectEnd, jsonstream.ArrayEnd:
		a.depth--
	case jsonstream.End:
		a.ended = true
	}
	if e.Kind == jsonstream.Key && a.depth == 1 {
		a.list = append(a.list, Parameter{Name: string(e.Text)})
		a.full.Reset()
		return false
	}
	if len(a.list) == 0 {
		return false
	}
	p := &a.list[len(a.list)-1]
	if p.Complete() {
		return false
	}
	if a.depth == 1 {
		switch e.Kind {
		case jsonstream.StringStart:
			p.Text = true
			return false
		case jsonstream.StringPart:
			p.Bytes += int64(len(e.Text))
			a.full.Write(e.Text)
			return false
		case jsonstream.StringEnd, jsonstream.ObjectEnd, jsonstream.ArrayEnd,
			jsonstream.Number, jsonstream.True, jsonstream.False, jsonstream.Null:
			p.JSON = string(a.value.Last().Raw())
			if !p.Text {
				p.Bytes = int64(len(p.JSON))
			}
			a.full.Reset()
			return false
		}
	}
	if !p.Text && a.depth > 1 {
		p.Bytes = e.Offset - a.began
		if e.Kind == jsonstream.StringPart {
			a.full.Write(e.Text)
		}
	}
	return false
}

// Parameters returns what there is now, in the order of arrival.
func (a *Arguments) Parameters() []Parameter {
	out := append([]Parameter(nil), a.list...)
	if n := len(out); n > 0 && !out[n-1].Complete() {
		text := a.full.Bytes()
		out[n-1].Head, out[n-1].Tail = head(text), tail(text)
	}
	return out
}

// Streaming returns all that has arrived of the value that streams: the text of a
// string, or the strings within another value.
func (a *Arguments) Streaming() string { return a.full.String() }

// Received is how many bytes of argument text have arrived.
func (a *Arguments) Received() int64 { return a.raw }

// Whole reports whether the arguments are one complete object.
func (a *Arguments) Whole() bool { return a.err == nil && a.ended }

// Object is one valid object: the arguments if they are whole, else the parameters that
// were complete (S7).
func (a *Arguments) Object() string {
	if a.Whole() {
		return string(a.value.Bytes())
	}
	out := []byte{'{'}
	for _, p := range a.list {
		if !p.Complete() {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonstream.AppendQuote(out, p.Name), ':')
		out = append(out, p.JSON...)
	}
	return string(append(out, '}'))
}

// head and tail cut a text to what is kept, between characters.
func head(text []byte) string {
	if len(text) <= Kept {
		return string(text)
	}
	n := Kept
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return string(text[:n])
}

func tail(text []byte) string {
	if len(text) <= Kept {
		return string(text)
	}
	n := len(text) - Kept
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return string(text[n:])
}
