// Package arguments tracks the arguments of a call while they arrive, for display: the complete
// parameters, and the one that is streaming.
//
//	var a arguments.Arguments
//	a.Feed([]byte(`{"path":"src/main.rs","content":"fn ma`))
//	a.Parameters() // path complete, content streaming with 5 bytes
//	a.Object()     // {"path":"src/main.rs"}
//
// It is for display only: the gate has its own copy of the arguments that may run. Its results do
// not depend on the chunks of the text.
package arguments

import (
	"bytes"
	"unicode/utf8"

	"github.com/stopgate/stopgate/jsonstream"
)

// Parameter is a top-level parameter of a call.
type Parameter struct {
	Name string
	// JSON is the complete value as canonical JSON, "" while it streams.
	JSON string
	// Bytes is the number of bytes received: decoded bytes of a string, otherwise bytes of JSON.
	Bytes int64
	// Head and Tail are the start and the end of the received part of a streaming value; they may
	// overlap, or have a gap between them. Text reports that they are text and not JSON.
	Head, Tail string
	Text       bool
}

// Complete reports whether the value is complete.
func (p Parameter) Complete() bool { return p.JSON != "" }

// Kept is the number of bytes stored from the start and from the end of a streaming value.
const Kept = 512

// Arguments are the arguments of one call. The zero value is ready to use. It is not safe for
// concurrent use.
type Arguments struct {
	parser *jsonstream.Parser
	value  jsonstream.Aggregator
	list   []Parameter
	depth  int
	start  int64 // offset of the open value
	full   bytes.Buffer
	raw    int64
	err    error
	ended  bool
}

// Feed parses the next bytes. It ignores invalid JSON and everything after it.
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
			a.start = e.Offset - 1
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
		p.Bytes = e.Offset - a.start
		if e.Kind == jsonstream.StringPart {
			a.full.Write(e.Text)
		}
	}
	return false
}

// Parameters returns the parameters so far, in the order of arrival.
func (a *Arguments) Parameters() []Parameter {
	out := append([]Parameter(nil), a.list...)
	if n := len(out); n > 0 && !out[n-1].Complete() {
		text := a.full.Bytes()
		out[n-1].Head, out[n-1].Tail = head(text), tail(text)
	}
	return out
}

// Streaming returns the received part of the streaming value: the text of a string, or the strings
// within another value.
func (a *Arguments) Streaming() string { return a.full.String() }

// Received returns the number of bytes received.
func (a *Arguments) Received() int64 { return a.raw }

// IsComplete reports whether the arguments are one complete object.
func (a *Arguments) IsComplete() bool { return a.err == nil && a.ended }

// Object returns a valid object: the arguments if they are complete, otherwise the complete
// parameters (S7).
func (a *Arguments) Object() string {
	if a.IsComplete() {
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

// head and tail cut a text to the stored size, between characters.
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
