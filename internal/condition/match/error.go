package match

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/condition/glob"
)

// SpecError describes a literal of a condition that cannot be compiled (D25-30, D25-31, C17, K18,
// K20). It becomes a diagnostic of the policy file.
type SpecError struct {
	Kind Kind
	// Index is the wrong literal in [Spec.Values], -1 if the matcher does not fit its target.
	Index int
	// Offset is the byte of the mistake in the literal's text, -1 for the complete literal.
	Offset int
	// Message is lower case and without a full stop.
	Message string
	// Hint is the remedy, "" if there is none. Text in back quotes can be pasted.
	Hint string
}

// Error returns the message with the matcher's name.
func (e *SpecError) Error() string {
	if e.Offset >= 0 {
		return fmt.Sprintf("%s: %s (at byte %d)", e.Kind, e.Message, e.Offset)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

// literalError returns an error about a complete literal.
func literalError(index int, message, hint string) *SpecError {
	return &SpecError{Index: index, Offset: -1, Message: message, Hint: hint}
}

// ofGlob converts the error of a glob to that of a condition with one literal.
func ofGlob(e *glob.Error) *SpecError {
	return &SpecError{Offset: e.Offset, Message: e.Message, Hint: e.Hint}
}
