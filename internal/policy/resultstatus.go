package policy

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/jsonstream"
)

// ResultStatus returns the function that reports from the data of a result whether the call
// succeeded (S24), nil if no file has a rule for the tool. Under a rule that does not compile
// no call succeeds, and neither does one whose result cannot be read.
func (p *Program) ResultStatus(tool stopgate.ToolName) func(data []byte) (succeeded bool) {
	s := p.Success(tool)
	switch {
	case s == nil:
		return nil
	case s.Condition != nil:
		if t, err := eval.NewDataTest(*s.Condition, false, condition.Env{}); err == nil {
			return valueStatus(holds(t))
		}
	case s.Text != nil:
		if m, err := match.Compile(*s.Text, condition.Target{}, false, condition.Env{}); err == nil {
			return func(data []byte) bool { return m.Match(resultText(data)) }
		}
	default:
		return valueStatus(exitCode(s.ExitCode))
	}
	return func([]byte) bool { return false }
}

func holds(t *eval.DataTest) func(jsonstream.Value) bool {
	return func(data jsonstream.Value) bool {
		ok, _ := t.Holds(data)
		return ok
	}
}

// exitCode returns the condition that the number at a pointer is 0.
func exitCode(at jsonstream.Pointer) func(jsonstream.Value) bool {
	return func(v jsonstream.Value) bool {
		code, found := at.Find(v)
		d, ok := code.Decimal()
		return found && ok && d.Sign() == 0
	}
}

// valueStatus evaluates a condition on the result as JSON, and on the value in an MCP result.
func valueStatus(holds func(jsonstream.Value) bool) func(data []byte) bool {
	return func(data []byte) bool {
		v, err := jsonstream.Parse(data, jsonstream.Options{})
		if err != nil {
			return false
		}
		if holds(v) {
			return true
		}
		inner, ok := mcpValue(v)
		return ok && holds(inner)
	}
}
