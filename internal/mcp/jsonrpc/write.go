package jsonrpc

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
)

// Error codes of JSON-RPC and of MCP, and the code of a denial.
const (
	ParseError         = -32700
	InvalidRequest     = -32600
	MethodNotFound     = -32601
	InvalidParams      = -32602
	InternalError      = -32603
	HeaderMismatch     = -32020
	UnsupportedVersion = -32022
	Denied             = -32010
)

// AppendResult appends the response to a request; result is JSON text.
func AppendResult(dst []byte, id ID, result []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"result":`...)
	dst = append(dst, result...)
	return append(dst, '}')
}

// AppendError appends an error response. If id is "", the id in the response is null. data
// is JSON text, or nil.
func AppendError(dst []byte, id ID, code int, message string, data []byte) []byte {
	if id == "" {
		id = "null"
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(code), 10)
	dst = append(dst, `,"message":`...)
	dst = jsonstream.AppendQuote(dst, message)
	if data != nil {
		dst = append(dst, `,"data":`...)
		dst = append(dst, data...)
	}
	return append(dst, "}}"...)
}

// AppendRequest appends a request, or a notification if id is "". params is JSON text, or
// nil.
func AppendRequest(dst []byte, id ID, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if id != "" {
		dst = append(dst, `"id":`...)
		dst = append(dst, id...)
		dst = append(dst, ',')
	}
	dst = append(dst, `"method":`...)
	dst = jsonstream.AppendQuote(dst, method)
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, '}')
}

// Edits collects changes of one message, in any order.
type Edits struct {
	message *Message
	edits   []jsonstream.Edit
}

// Edit starts a change of the message. The text of the message itself stays unchanged.
func (m *Message) Edit() *Edits { return &Edits{message: m} }

// ID replaces the id.
func (e *Edits) ID(id ID) *Edits {
	if v, ok := e.message.root.Get("id"); ok {
		e.Replace(v, []byte(id))
	}
	return e
}

// Replace replaces a value of the message by other JSON text.
func (e *Edits) Replace(v jsonstream.Value, text []byte) *Edits {
	start, end := v.Span()
	e.edits = append(e.edits, jsonstream.Edit{Start: start, End: end, Text: text})
	return e
}

// Add inserts a member at the start of an object of the message.
func (e *Edits) Add(object jsonstream.Value, name string, text []byte) *Edits {
	member := append(append(jsonstream.AppendQuote(nil, name), ':'), text...)
	if object.Len() > 0 {
		member = append(member, ',')
	}
	start, _ := object.Span()
	e.edits = append(e.edits, jsonstream.Edit{Start: start + 1, End: start + 1, Text: member})
	return e
}

// Set replaces a member of an object, or adds it.
func (e *Edits) Set(object jsonstream.Value, name string, text []byte) *Edits {
	if v, ok := object.Get(name); ok {
		return e.Replace(v, text)
	}
	return e.Add(object, name, text)
}

// Remove removes the members of an object for whose names drop returns true.
func (e *Edits) Remove(object jsonstream.Value, drop func(name string) bool) *Edits {
	e.edits = object.AppendRemovals(e.edits, func(key, _ jsonstream.Value) bool { return drop(key.Text()) })
	return e
}

// RemoveElements removes the elements of an array for which drop returns true. drop may
// edit the elements that stay.
func (e *Edits) RemoveElements(array jsonstream.Value, drop func(element jsonstream.Value) bool) *Edits {
	removals := array.AppendRemovals(nil, func(_, element jsonstream.Value) bool { return drop(element) })
	e.edits = append(e.edits, removals...)
	return e
}

// Text returns the changed message on one line.
func (e *Edits) Text() ([]byte, error) {
	slices.SortStableFunc(e.edits, func(a, b jsonstream.Edit) int { return cmp.Compare(a.Start, b.Start) })
	text, err := jsonstream.Splice(nil, e.message.Text, e.edits)
	return SingleLine(text), err
}

// SingleLine replaces line breaks, which are only white space in a message, by spaces. It
// changes text in place.
func SingleLine(text []byte) []byte {
	for i, c := range text {
		if c == '\n' || c == '\r' {
			text[i] = ' '
		}
	}
	return text
}
