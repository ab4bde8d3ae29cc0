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

// Writer converts conversations. The zero Writer hides nothing.
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

// Request converts a request. Dialects have the names that records use.
func (w Writer) Request(dialect string, body []byte) (r Request) {
	root, ok := parse(body)
	if !ok {
		return r
	}
	var l list
	switch dialect {
	case "openai-chat":
		w.chatMessages(&l, root)
	case "openai-responses":
		r.System = w.system(root, "instructions")
		w.items(&l, get(root, "input"))
	case "anthropic":
		r.System = w.system(root, "system")
		w.anthropicMessages(&l, root)
	default:
		return r
	}
	r.Messages, r.Tools = l.String(), tools(root)
	return r
}

// Answer converts an answer, which may be incomplete: one message for each choice. streamed reports
// that data is a stream of server-sent events.
func (w Writer) Answer(dialect string, streamed bool, data []byte) string {
	var l list
	switch {
	case dialect == "openai-chat" && streamed:
		w.chatStream(&l, data)
	case dialect == "openai-chat":
		w.chatBody(&l, data)
	case dialect == "openai-responses" && streamed:
		w.responsesStream(&l, data)
	case dialect == "openai-responses":
		w.responsesBody(&l, data)
	case dialect == "anthropic" && streamed:
		w.anthropicStream(&l, data)
	case dialect == "anthropic":
		w.anthropicBody(&l, data)
	}
	return l.String()
}

// Value converts arguments or a result; it returns "" for invalid JSON.
func (w Writer) Value(text []byte) string { return string(w.value(nil, text)) }

func (w Writer) value(dst, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	v, ok := parse(text)
	if !ok {
		return dst
	}
	shown, ok := parse(w.Hide.Append(nil, v))
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

func parse(text []byte) (jsonstream.Value, bool) {
	v, err := jsonstream.Parse(text, jsonstream.Options{
		MaxBytes: jsonstream.LargestMaxBytes, MaxMembers: 1 << 16, MaxValues: 1 << 20, MaxExponent: jsonstream.AnyExponent, RepeatedKeys: true,
	})
	return v, err == nil
}

// get finds a value by its path; it returns the invalid value if there is none.
func get(v jsonstream.Value, path ...string) jsonstream.Value {
	for _, name := range path {
		if v.Kind() != jsonstream.Object {
			return jsonstream.Value{}
		}
		v, _ = v.Get(name)
	}
	return v
}

// textOf returns the text at a path, or "".
func textOf(v jsonstream.Value, path ...string) string {
	if v = get(v, path...); v.Kind() != jsonstream.String {
		return ""
	}
	return v.Text()
}

// elements returns the elements of a list, or nil for other values.
func elements(v jsonstream.Value) (all []jsonstream.Value) {
	if v.Kind() == jsonstream.Array {
		for e := range v.Elements() {
			all = append(all, e)
		}
	}
	return all
}
