package wire

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Cut is the end of a response that ended before its terminal event.
func Cut() *StreamError {
	return &StreamError{Code: stopgate.CodeStreamTruncated, Message: "The provider's answer ended before it was complete."}
}

// OverLimit is the end of a response that needs more than a limit allows.
func OverLimit() *StreamError {
	return &StreamError{Code: stopgate.CodeLimitExceeded, Message: "The provider's answer exceeds a limit."}
}

// UnknownCall is the end of a response with something that may be a call, of a
// form that has no place for a denial (L14).
func UnknownCall() *StreamError {
	return &StreamError{Code: stopgate.CodePolicyNotConfigured, Message: "The provider's answer has a tool call of an unknown form."}
}

// AppendErrorObject appends the error object of the OpenAI dialects, on which
// every client of them raises. An empty message becomes the code's public text.
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

// maxNotes and maxNote bound what an upstream can write into a record.
const (
	maxNotes = 64
	maxNote  = 128
)

// Pass remembers the type of something that was forwarded without a judgement
// (L12), each once.
func (n *Notes) Pass(typ string) { n.NotEvaluated = noted(n.NotEvaluated, typ) }

func noted(list []string, typ string) []string {
	if len(typ) > maxNote {
		typ = strings.ToValidUTF8(typ[:maxNote], "")
	}
	if len(list) < maxNotes && !slices.Contains(list, typ) {
		list = append(list, typ)
	}
	return list
}

// Odd notes an event that does not fit into its answer and was forwarded, because the answer
// has no call.
func (n *Notes) Odd(typ string) { n.Strange = noted(n.Strange, typ) }

// WrongKind is the end of a body that is not the answer that was asked for: an event of a
// stream, or an answer in another dialect. A client may find calls in it that no codec of
// this dialect looks for.
func WrongKind() *StreamError {
	return &StreamError{Code: stopgate.CodeUpstreamError, Message: "The provider's answer is not of the kind that was asked for."}
}

// StrayCall reports whether a member that no codec reads has the name and the form of calls,
// in any of the dialects.
func StrayCall(key []byte, v jsonstream.Value) bool {
	if v.Kind() != jsonstream.Object && v.Kind() != jsonstream.Array || v.Len() == 0 {
		return false
	}
	for _, name := range callNames {
		if string(key) == name {
			return true
		}
	}
	return Lookalike(key, callNames...)
}

// HoldsStrayCall reports whether a member of an object is a [StrayCall].
func HoldsStrayCall(object jsonstream.Value) bool {
	for k, v := range object.Members() {
		if StrayCall(Key(k), v) {
			return true
		}
	}
	return false
}
