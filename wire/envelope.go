package wire

import (
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// EnvelopeOptions are the limits for reading a provider's own JSON: an event, a
// body, a request. They are wider than those for arguments, which stand in it
// as text, but duplicates and bad text are refused all the same (WIRE 1.1
// rule 9).
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

// Malformed says why a response cannot go on after a text in it was refused: the
// limit, or else that it cannot be read in one way only.
func Malformed(err error) *StreamError {
	var e *jsonstream.Error
	if errors.As(err, &e) && e.Code == stopgate.CodeLimitExceeded {
		return OverLimit()
	}
	return &StreamError{Code: stopgate.CodeEnvelopeMismatch, Message: "The provider's answer is malformed."}
}

// Key returns a member's name, without a copy where it contains no escape.
func Key(k jsonstream.Value) []byte {
	if text, ok := k.TextBytes(); ok {
		return text
	}
	return k.AppendText(nil)
}

// Present reports whether a member is there and says something: null is how many
// servers write an absent member.
func Present(v jsonstream.Value) bool { return v.IsValid() && v.Kind() != jsonstream.Null }

// Plain reports whether no member of an object has a name that only folds to one
// of the names: some clients would read it and others would not.
func Plain(object jsonstream.Value, names []string) bool {
	for k := range object.Members() {
		if Lookalike(Key(k), names...) {
			return false
		}
	}
	return true
}

// Small reads a position or a counter: a whole number of at most nine digits.
func Small(v jsonstream.Value) (n int, ok bool) {
	raw := v.Raw()
	if v.Kind() != jsonstream.Number || countLen(raw) != len(raw) {
		return 0, false
	}
	for _, c := range raw {
		n = n*10 + int(c-'0')
	}
	return n, true
}
