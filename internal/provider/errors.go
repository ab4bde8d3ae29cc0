package provider

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Truncated returns the error for a response that ended before its terminal event.
func Truncated() *StreamError {
	return &StreamError{Code: stopgate.CodeStreamTruncated, Message: "The provider's answer ended before it was complete."}
}

// LimitExceeded returns the error for a response that exceeds a limit.
func LimitExceeded() *StreamError {
	return &StreamError{Code: stopgate.CodeLimitExceeded, Message: "The provider's answer exceeds a limit."}
}

// UnknownCall returns the error for a response with content that may be a call, in a form
// that has no location for a denial (L14).
func UnknownCall() *StreamError {
	return &StreamError{Code: stopgate.CodePolicyNotConfigured, Message: "The provider's answer has a tool call of an unknown form."}
}

// AppendErrorObject appends the error object of the OpenAI dialects, on which every client
// of them raises an error. An empty message becomes the public text of the code.
func AppendErrorObject(dst []byte, code stopgate.Code, message string) []byte {
	if message == "" {
		message = code.Public()
	}
	dst = append(dst, `{"error":{"message":`...)
	dst = jsonstream.AppendQuote(dst, message)
	dst = append(dst, `,"type":"stopgate_error","param":null,"code":`...)
	dst = jsonstream.AppendQuote(dst, string(code))
	return append(dst, "}}"...)
}

// maxNotes and maxNote limit the text that an upstream can write into a record.
const (
	maxNotes = 64
	maxNote  = 128
)

// AddNotEvaluated records the type of content that was forwarded without evaluation (L12),
// each type once.
func (n *Notes) AddNotEvaluated(typ string) { n.NotEvaluated = appendNote(n.NotEvaluated, typ) }

func appendNote(list []string, typ string) []string {
	if len(typ) > maxNote {
		typ = strings.ToValidUTF8(typ[:maxNote], "")
	}
	if len(list) < maxNotes && !slices.Contains(list, typ) {
		list = append(list, typ)
	}
	return list
}

// AddUnexpected records the type of an event that does not fit into its response and was
// forwarded, because the response has no call.
func (n *Notes) AddUnexpected(typ string) { n.Unexpected = appendNote(n.Unexpected, typ) }

// WrongKind returns the error for a body that is not the requested response: an event of a
// stream, or a response in another dialect. A client could find calls in it that the codec
// of this dialect does not look for.
func WrongKind() *StreamError {
	return &StreamError{Code: stopgate.CodeUpstreamError, Message: "The provider's answer is not of the kind that was asked for."}
}

// IsStrayCall reports whether a member that no codec reads has the name and the form of
// calls in any of the dialects.
func IsStrayCall(key []byte, v jsonstream.Value) bool {
	if v.Kind() != jsonstream.Object && v.Kind() != jsonstream.Array || v.Len() == 0 {
		return false
	}
	for _, name := range callNames {
		if string(key) == name {
			return true
		}
	}
	return IsLookalike(key, callNames...)
}

// HasStrayCall reports whether an object has a member for which [IsStrayCall] is true.
func HasStrayCall(object jsonstream.Value) bool {
	for k, v := range object.Members() {
		if IsStrayCall(Key(k), v) {
			return true
		}
	}
	return false
}
