package plaintext

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
)

// OfGlob converts the error of a glob to that of a condition with one literal.
func OfGlob(e *glob.Error) *condition.SpecError {
	return &condition.SpecError{Offset: e.Offset, Message: e.Message, Hint: e.Hint}
}
