package match

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
)

// ofGlob converts the error of a glob to that of a condition with one literal.
func ofGlob(e *glob.Error) *condition.SpecError {
	return &condition.SpecError{Offset: e.Offset, Message: e.Message, Hint: e.Hint}
}
