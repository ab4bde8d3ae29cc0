package match

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/condition/glob"
)

// SpecError says which literal of a condition cannot be compiled and why
// (D25-30, D25-31, C17, K18, K20). It becomes a diagnostic of the policy file.
type SpecError struct {
	Kind Kind
	// Index is the literal in [Spec.Values] that is wrong, -1 if the matcher as a
	// whole does not fit its target.
	Index int
	// Offset is the byte inside the literal's text where it goes wrong, -1 if the
	// whole literal is meant.
	Offset int
	// Message is lower case and without a full stop.
	Message string
	// Hint is what to write instead, "" if there is nothing better to say. Text in
	// back quotes can be pasted.
	Hint string
}

// Error returns the message with the matcher's name.
func (e *SpecError) Error() string {
	if e.Offset >= 0 {
		return fmt.Sprintf("%s: %s (at byte %d)", e.Kind, e.Message, e.Offset)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

// whole is an error about a whole literal.
func whole(index int, message, hint string) *SpecError {
	return &SpecError{Index: index, Offset: -1, Message: message, Hint: hint}
}

// ofGlob is the error of a glob as that of a condition with one literal.
func ofGlob(e *glob.Error) *SpecError {
	return &SpecError{Offset: e.Offset, Message: e.Message, Hint: e.Hint}
}
