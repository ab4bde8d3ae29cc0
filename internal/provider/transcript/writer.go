package transcript

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Bounds of the output, in bytes.
const (
	MaxText     = 4 << 10  // of one text
	MaxMessages = 64 << 10 // of one list of messages, one call's arguments, one result
	// MaxAnswer is the number of bytes of an answer that a caller should buffer.
	MaxAnswer = 256 << 10
)

// Writer converts conversations. The zero Writer has no hidden values.
type Writer struct {
	// Hide selects values of arguments and results that are hidden.
	Hide gate.Hidden
}

// Request is a converted request to a model. Each field is JSON, or "" if absent.
type Request struct {
	System   string // the parts of the instructions outside the conversation
	Messages string
	Tools    string // types and names of the declared tools
}

// Format converts the conversations of one API.
type Format struct {
	// Request adds the messages of a request, and returns the instructions outside of them.
	Request func(w Writer, l *List, root jsonstream.Value) (system string)
	// Body and Stream add an answer that is not streamed, or streamed.
	Body, Stream func(w Writer, l *List, data []byte)
	// Tools lists the declared tools. Nil if they have a type and a name.
	Tools func(root jsonstream.Value) []Tool
}

// Request converts a request. Without a format the result is empty.
func (w Writer) Request(f *Format, body []byte) (r Request) {
	root, ok := Parse(body)
	if !ok || f == nil {
		return r
	}
	var l List
	r.System = f.Request(w, &l, root)
	declared := typedTools
	if f.Tools != nil {
		declared = f.Tools
	}
	r.Messages, r.Tools = l.String(), tools(declared(root))
	return r
}

// Answer converts an answer, which may be incomplete: one message for each choice. streamed reports
// that data is a stream of server-sent events.
func (w Writer) Answer(f *Format, streamed bool, data []byte) string {
	var l List
	switch {
	case f == nil:
	case streamed:
		f.Stream(w, &l, data)
	default:
		f.Body(w, &l, data)
	}
	return l.String()
}

// Value converts arguments or a result; it returns "" for invalid JSON.
func (w Writer) Value(text []byte) string { return string(w.value(nil, text)) }

func (w Writer) value(dst, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	v, ok := Parse(text)
	if !ok {
		return dst
	}
	shown, ok := Parse(w.Hide.Append(nil, v))
	if !ok {
		return dst
	}
	n := len(dst)
	if dst = cut(dst, shown); len(dst)-n > MaxMessages {
		return appendText(dst[:n], fmt.Sprintf("[%d bytes are too long to be shown]", len(text)))
	}
	return dst
}

// cut appends a value with its long texts cut.
func cut(dst []byte, v jsonstream.Value) []byte {
	switch v.Kind() {
	case jsonstream.Object:
		dst = append(dst, '{')
		for key, value := range v.Members() {
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = cut(append(jsonstream.AppendQuote(dst, key.Text()), ':'), value)
		}
		return append(dst, '}')
	case jsonstream.Array:
		dst = append(dst, '[')
		for value := range v.Elements() {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst = cut(dst, value)
		}
		return append(dst, ']')
	case jsonstream.String:
		if len(v.Raw()) > MaxText {
			return appendText(dst, v.Text())
		}
	}
	return append(dst, v.Raw()...)
}

// Text returns a text as UTF-8, cut if it is too long.
func Text(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= MaxText {
		return text
	}
	end := MaxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s [%d more bytes]", text[:end], len(text)-end)
}

func appendText(dst []byte, text string) []byte { return jsonstream.AppendQuote(dst, Text(text)) }

// Parse parses a JSON text; ok is false for an invalid one.
func Parse(text []byte) (jsonstream.Value, bool) {
	v, err := jsonstream.Parse(text, jsonstream.Options{
		MaxBytes: jsonstream.LargestMaxBytes, MaxMembers: 1 << 16, MaxValues: 1 << 20, MaxExponent: jsonstream.AnyExponent, RepeatedKeys: true,
	})
	return v, err == nil
}

// Get finds a value by its path; it returns the invalid value if there is none.
func Get(v jsonstream.Value, path ...string) jsonstream.Value {
	for _, name := range path {
		if v.Kind() != jsonstream.Object {
			return jsonstream.Value{}
		}
		v, _ = v.Get(name)
	}
	return v
}

// TextOf returns the text at a path, or "".
func TextOf(v jsonstream.Value, path ...string) string {
	if v = Get(v, path...); v.Kind() != jsonstream.String {
		return ""
	}
	return v.Text()
}

// Elements returns the elements of a list, or nil for other values.
func Elements(v jsonstream.Value) (all []jsonstream.Value) {
	if v.Kind() == jsonstream.Array {
		for e := range v.Elements() {
			all = append(all, e)
		}
	}
	return all
}
