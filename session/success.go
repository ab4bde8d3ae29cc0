package session

import "github.com/stopgate/stopgate/jsonstream"

// Success reports from the data of a tool's result whether the call succeeded (S24).
type Success struct {
	value func(jsonstream.Value) bool
	text  func([]byte) bool
}

// SuccessValue returns the Success of a condition on the result as JSON.
func SuccessValue(holds func(jsonstream.Value) bool) *Success { return &Success{value: holds} }

// SuccessText returns the Success of a condition on the text of the result.
func SuccessText(holds func([]byte) bool) *Success { return &Success{text: holds} }

// SuccessExitCode returns the Success of the number at a pointer: 0 is success.
func SuccessExitCode(at jsonstream.Pointer) *Success {
	return SuccessValue(func(v jsonstream.Value) bool {
		code, found := at.Find(v)
		d, ok := code.Decimal()
		return found && ok && d.Sign() == 0
	})
}

// Of reports whether a call with this result data succeeded; data that cannot be read is no
// success. Of an MCP result the text or the structured content is read.
func (s *Success) Of(data []byte) bool {
	v, err := jsonstream.Parse(data, jsonstream.Options{})
	if s.text != nil {
		if err == nil {
			data = resultText(v, data)
		}
		return s.text(data)
	}
	if err != nil || s.value == nil {
		return false
	}
	if s.value(v) {
		return true
	}
	inner, ok := mcpValue(v)
	return ok && s.value(inner)
}
