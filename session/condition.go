package session

import "github.com/stopgate/stopgate/jsonstream"

// When is a condition over the session's data.
type When struct {
	holds func(data jsonstream.Value) bool
}

// NewWhen returns the condition of a function. The function should return true where it is
// unknown whether a policy that restricts applies.
func NewWhen(holds func(data jsonstream.Value) bool) When { return When{holds} }

// Holds reports whether the condition holds on the data. The zero When always holds.
func (w When) Holds(data jsonstream.Value) bool { return w.holds == nil || w.holds(data) }
