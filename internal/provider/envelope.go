package provider

import (
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// EnvelopeOptions returns the limits for parsing the provider's own JSON: an event, a body
// or a request. They are wider than the limits of arguments, which this JSON contains as
// text. Duplicate keys and invalid text are refused all the same.
func EnvelopeOptions(maxBytes int) jsonstream.Options {
	return jsonstream.Options{
		MaxDepth:    jsonstream.LargestMaxDepth,
		MaxMembers:  1 << 20,
		MaxValues:   2 << 20,
		MaxKey:      64 << 10,
		MaxBytes:    int64(maxBytes),
		MaxExponent: jsonstream.AnyExponent,
		ObjectRoot:  true,
	}
}

// Malformed returns the error for a response that contains a refused text: [LimitExceeded]
// if err is about a limit, otherwise envelope_mismatch, because two readers could parse the
// text differently.
func Malformed(err error) *StreamError {
	var e *jsonstream.Error
	if errors.As(err, &e) && e.Code == stopgate.CodeLimitExceeded {
		return LimitExceeded()
	}
	return &StreamError{Code: stopgate.CodeEnvelopeMismatch, Message: "The provider's answer is malformed."}
}

// Key returns the name of a member, without a copy if it contains no escape.
func Key(k jsonstream.Value) []byte {
	if text, ok := k.TextBytes(); ok {
		return text
	}
	return k.AppendText(nil)
}

// Present reports whether a member exists and is not null, which many servers write for an
// absent member.
func Present(v jsonstream.Value) bool { return v.IsValid() && v.Kind() != jsonstream.Null }

// ExactNames reports whether no member of an object has a name that is a lookalike of one
// of names: some clients would read it as that name and others would not.
func ExactNames(object jsonstream.Value, names []string) bool {
	for k := range object.Members() {
		if IsLookalike(Key(k), names...) {
			return false
		}
	}
	return true
}

// SmallInt parses an index or a counter: a whole number of at most nine digits.
func SmallInt(v jsonstream.Value) (n int, ok bool) {
	raw := v.Raw()
	if v.Kind() != jsonstream.Number || intLen(raw) != len(raw) {
		return 0, false
	}
	for _, c := range raw {
		n = n*10 + int(c-'0')
	}
	return n, true
}
