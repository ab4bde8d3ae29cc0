package jsonrpc

import (
	"bytes"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Kind is the kind of a message. The zero Kind is invalid.
type Kind uint8

// The kinds of messages.
const (
	Request       Kind = iota + 1 // expects a response
	Notification                  // expects no response
	Response                      // result of a request
	ErrorResponse                 // error of a request
)

// ID is the id of a request in a canonical form: an integer as it is written, or a quoted
// string. "" means no id.
type ID string

// Message is one received message.
type Message struct {
	// Text is the bytes of the message; callers must not change it.
	Text   []byte
	Kind   Kind
	ID     ID
	Method string // of a request or a notification
	// Params, Result and Error are the members with these names; invalid if the message
	// lacks them.
	Params, Result, Error jsonstream.Value

	root jsonstream.Value
}

// MaxBytes is the maximum length of a message: the longest arguments, and as much again for
// results with images.
const MaxBytes = 32 << 20

// limits returns the limits of one message. The gate evaluates arguments with narrower
// ones.
func limits() jsonstream.Options {
	return jsonstream.Options{MaxDepth: 160, MaxBytes: MaxBytes, MaxValues: 1 << 20, MaxExponent: jsonstream.AnyExponent}
}

// Error is the reason why a text is not a valid message. Its text contains no part of the
// message.
type Error struct {
	// Parse is set if the text is not JSON: the response is ParseError instead of
	// InvalidRequest.
	Parse bool
	// Batch is set for an array of messages.
	Batch bool
	// ID, Method and Tool are the parts of a request that could be read, for the response
	// and the record. They are not trusted.
	ID     ID
	Method string
	Tool   string
	Detail string
}

// Error implements error.
func (e *Error) Error() string { return "jsonrpc: " + e.Detail }

// Read parses one message. The error is an *Error.
func Read(text []byte) (*Message, error) {
	text = bytes.Trim(text, " \t\r\n")
	if len(text) > 0 && text[0] == '[' {
		return nil, &Error{Batch: true, Detail: "batches are not accepted: send one message at a time"}
	}
	doc := new(jsonstream.Document)
	if err := doc.Scan(text, limits()); err != nil {
		return nil, scanError(text, err)
	}
	m := &Message{Text: text, root: doc.Root()}
	if detail := m.parseEnvelope(); detail != "" {
		return nil, m.errorFor(detail)
	}
	return m, nil
}

// scanError returns the error for a text that the strict scan refuses, with the parts that
// a lenient scan finds.
func scanError(text []byte, cause error) *Error {
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
	m.parseEnvelope()
	found := m.errorFor(e.Detail)
	found.Parse = e.Parse
	return found
}

// errorFor returns an error with the parts of the message that could be read.
func (m *Message) errorFor(detail string) *Error {
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

// parseEnvelope reads the envelope and returns its fault, or "".
func (m *Message) parseEnvelope() (problem string) {
	if m.root.Kind() != jsonstream.Object {
		return "a message is one JSON object"
	}
	if problem = lookalikeMember(m.root, envelopeNames); problem != "" {
		return problem
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
	// An error may respond to a message without a readable id: its id is null then.
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
		m.Kind = ErrorResponse
	}
	return m.checkParams()
}

// maxID is the maximum length of an id in bytes.
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

// plainName reports whether a name has the form of a method name.
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

// ParseID returns the id for a progress token or an id inside a message; "" if the value is
// not a valid id.
func ParseID(v jsonstream.Value) ID {
	if !v.IsValid() {
		return ""
	}
	id, _ := readID(v)
	return id
}
