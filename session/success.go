package session

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/eval"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/policy/syntax"
)

// Success reads the result of a tool as the policy file says (DECISIONS S24).
type Success struct {
	exit jsonstream.Pointer
	when *eval.DataTest
	text *match.Matcher
}

// CompileSuccess prepares the rule of a tool table.
func CompileSuccess(s *syntax.Success) (*Success, error) {
	switch {
	case s.Condition != nil:
		t, err := eval.NewDataTest(*s.Condition, false, match.Env{})
		return &Success{when: t}, err
	case s.Text != nil:
		m, err := match.Compile(*s.Text, match.Target{}, false, match.Env{})
		return &Success{text: m}, err
	}
	return &Success{exit: s.ExitCode}, nil
}

// Of reports whether the data of a result says that the call succeeded. Data that
// cannot be read does not. An MCP result is read by what it carries: its text, or its
// structured content.
func (s *Success) Of(data []byte) bool {
	v, err := jsonstream.Parse(data, jsonstream.Options{})
	if s.text != nil {
		if err == nil {
			data = resultText(v, data)
		}
		return s.text.Whole(data)
	}
	if err != nil {
		return false
	}
	if s.holds(v) {
		return true
	}
	inner, ok := carried(v)
	return ok && s.holds(inner)
}

func (s *Success) holds(v jsonstream.Value) bool {
	if s.when != nil {
		holds, _ := s.when.Holds(v)
		return holds
	}
	code, found := s.exit.Find(v)
	d, ok := code.Decimal()
	return found && ok && d.Sign() == 0
}
