package jsonrpc

import (
	"bytes"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Kind says what a message is. The zero Kind is none.
type Kind uint8

// The kinds of messages.
const (
	Request      Kind = iota + 1 // wants a response
	Notification                 // wants none
	Response                     // the result of a request
	Failure                      // its error
)

// ID is the id of a request in one spelling: an integer as it is written, or a
// string in quotes. "" is none.
type ID string

// Message is one message as it was received.
type Message struct {
	// Text is the message's own bytes; it must not be changed.
	Text   []byte
	Kind   Kind
	ID     ID
	Method string // of a request or a notification
	// Params, Result and Error are the members of these names; invalid where the
	// message has none.
	Params, Result, Error jsonstream.Value

	root jsonstream.Value
}

// MaxBytes is the longest message that is read: the longest arguments, and as much
// again for results with images (THREATS 2.2).
const MaxBytes = 32 << 20

// limits of one message. Arguments are judged by narrower ones, by the gate.
func limits() jsonstream.Options {
	return jsonstream.Options{MaxDepth: 160, MaxBytes: MaxBytes, MaxValues: 1 << 20, MaxExponent: jsonstream.AnyExponent}
}

// Error says why a text is no message. Its text holds nothing of the message.
type Error struct {
	// Parse is set where the text is no JSON at all: the answer is ParseError, not
	// InvalidRequest.
	Parse bool
	// Batch is set for an array of messages.
	Batch bool
	// ID, Method and Tool are what could be read of a request, for the answer and for
	// the record; they are not to be trusted.
	ID     ID
	Method string
	Tool   string
	Detail string
}

// Error implements error.
func (e *Error) Error() string { return "jsonrpc: " + e.Detail }

// Read reads one message. The error is an *Error.
func Read(text []byte) (*Message, error) {
	text = bytes.Trim(text, " \t\r\n")
	if len(text) > 0 && text[0] == '[' {
		return nil, &Error{Batch: true, Detail: "batches are not accepted: send one message at a time"}
	}
	doc := new(jsonstream.Document)
	if err := doc.Scan(text, limits()); err != nil {
		return nil, unreadable(text, err)
	}
	m := &Message{Text: text, root: doc.Root()}
	if detail := m.take(); detail != "" {
		return nil, m.refused(detail)
	}
	return m, nil
}

// unreadable reports a text that the strict scan refuses, with what a lenient one
// finds in it.
func unreadable(text []byte, cause error) *Error {
	e := &Error{Parse: true, Detail: "this is not one JSON text"}
	var scan *jsonstream.Error
	if !errors.As(cause, &scan) {
		return e
	}
	e.Detail = scan.Detail
	if scan.Code == stopgate.CodeDuplicateKey || scan.Code == stopgate.CodeLimitExceeded {
		e.Parse = false
	}
	lenient := limits()
	lenient.RepeatedKeys = true
	doc := new(jsonstream.Document)
	if doc.Scan(text, lenient) != nil {
		return e
	}
	m := &Message{root: doc.Root()}
	m.take()
	found := m.refused(e.Detail)
	found.Parse = e.Parse
	return found
}

// refused is the error about a message, with what could be read of it.
func (m *Message) refused(detail string) *Error {
	e := &Error{Detail: detail, ID: m.ID, Method: m.Method}
	if m.ID == "" {
		if id, ok := m.root.Get("id"); ok {
			e.ID, _ = readID(id)
		}
	}
	if e.Method == "" {
		if method, ok := m.root.Get("method"); ok {
			e.Method = method.Text()
		}
	}
	if params, ok := m.root.Get("params"); ok {
		if name, ok := params.Get("name"); ok {
			e.Tool = name.Text()
		}
	}
	return e
}

// take reads the envelope; what is wrong with it is returned.
func (m *Message) take() (wrong string) {
	if m.root.Kind() != jsonstream.Object {
		return "a message is one JSON object"
	}
	if wrong = strange(m.root, envelopeNames); wrong != "" {
		return wrong
	}
	version, _ := m.root.Get("jsonrpc")
	if !version.IsText("2.0") {
		return `"jsonrpc" must be "2.0"`
	}
	method, hasMethod := m.root.Get("method")
	id, hasID := m.root.Get("id")
	result, hasResult := m.root.Get("result")
	failure, hasError := m.root.Get("error")
	params, hasParams := m.root.Get("params")
	switch {
	case hasMethod && (hasResult || hasError), hasResult && hasError, !hasMethod && !hasResult && !hasError, hasParams && !hasMethod:
		return "a message is a request, a notification, a result or an error, and only one of them"
	case hasMethod && (method.Kind() != jsonstream.String || !plainName(method.Text())):
		return `"method" must be a plain name`
	case hasParams && params.Kind() != jsonstream.Object:
		return `"params" must be an object`
	case hasResult && result.Kind() != jsonstream.Object:
		return `"result" must be an object`
	case hasError && failure.Kind() != jsonstream.Object:
		return `"error" must be an object`
	}
	// An error may answer what had no readable id: JSON-RPC says null then.
	if hasID && !(hasError && id.Kind() == jsonstream.Null) {
		var ok bool
		if m.ID, ok = readID(id); !ok {
			return `"id" must be a string or an integer`
		}
	}
	m.Params, m.Result, m.Error = params, result, failure
	switch {
	case hasMethod:
		m.Method, m.Kind = method.Text(), Request
		if !hasID {
			m.Kind = Notification
		}
	case !hasID:
		return "a response needs an id"
	case hasResult:
		m.Kind = Response
	default:
		m.Kind = Failure
	}
	return m.strangeParams()
}

// maxID is the longest id in bytes.
const maxID = 1024

func readID(v jsonstream.Value) (ID, bool) {
	raw := v.Raw()
	switch {
	case len(raw) > maxID:
	case v.Kind() == jsonstream.String:
		return ID(jsonstream.AppendQuote(nil, v.Text())), true
	case v.Kind() == jsonstream.Number:
		return ID(raw), !bytes.ContainsAny(raw, ".eE") && string(raw) != "-0"
	}
	return "", false
}

// plainName reports whether a method's name has the form that methods have.
func plainName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '/', c == '_', c == '-', c == '.', c == '$':
		default:
			return false
		}
	}
	return name != "" && len(name) <= 256
}

// Literal is a progress token or an id inside a message as an id; "" for a value that
// can be none.
func Literal(v jsonstream.Value) ID {
	if !v.IsValid() {
		return ""
	}
	id, _ := readID(v)
	return id
}
