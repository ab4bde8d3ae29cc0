package condition

import (
	"fmt"
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
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

// Invalid returns an error about a complete literal.
func Invalid(index int, message, hint string) *SpecError {
	return &SpecError{Index: index, Offset: -1, Message: message, Hint: hint}
}

// Describe returns the name of a literal for a message.
func Describe(lit Literal) string {
	switch lit.Kind {
	case LiteralString:
		return "the string " + strconv.Quote(lit.Text)
	case LiteralNumber:
		return "the number " + lit.Text
	case LiteralBool:
		return lit.Text
	case LiteralArray:
		return "an array"
	case LiteralNull:
		return "null"
	}
	return "an object"
}

// ParseNumber reads the literal of a number; index is its place among the values.
func ParseNumber(index int, lit Literal) (jsonstream.Decimal, *SpecError) {
	if lit.Kind != LiteralNumber {
		return jsonstream.Decimal{}, Invalid(index, "must be a number, not "+Describe(lit), "")
	}
	d, err := jsonstream.ParseDecimal([]byte(lit.Text))
	if err != nil {
		return jsonstream.Decimal{}, Invalid(index, lit.Text+" is not a decimal number within the limits", "")
	}
	return d, nil
}

// ParseCount reads the literal of min_items, max_items and max_length.
func ParseCount(lit Literal) (int, *SpecError) {
	if lit.Kind == LiteralNumber {
		if n, err := strconv.ParseInt(lit.Text, 10, 32); err == nil && n >= 0 {
			return int(n), nil
		}
	}
	return 0, Invalid(0, "must be a whole number from 0 to 2147483647, not "+Describe(lit), "")
}
