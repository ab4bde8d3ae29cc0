package session

import "github.com/stopgate/stopgate/jsonstream"

// When is a condition over the session's data.
type When struct {
	holds func(data jsonstream.Value) bool
}

// NewWhen makes a condition of a function. It should return true where it is not known
// whether a policy that restricts applies.
func NewWhen(holds func(data jsonstream.Value) bool) When { return When{holds} }

// Holds reports whether the data fits. The zero When always holds.
func (w When) Holds(data jsonstream.Value) bool { return w.holds == nil || w.holds(data) }
