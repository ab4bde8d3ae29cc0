package session

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/policy/match"
)

// Success reads the result of a tool as the policy file says (DECISIONS S24).
type Success struct {
	exit jsonstream.Pointer
	when *When
	text *match.Matcher
}

// CompileSuccess prepares the rule of a tool table.
func CompileSuccess(s *policy.Success) (*Success, error) {
	switch {
	case s.Condition != nil:
		w, err := permissive(s.Condition.Pointer, s.Condition.Spec)
		return &Success{when: &w}, err
	case s.Text != nil:
		m, err := match.Compile(*s.Text, match.Target{}, false, match.Env{})
		return &Success{text: m}, err
	}
	return &Success{exit: s.ExitCode}, nil
}

// permissive is a condition that in doubt does not hold.
func permissive(pointer jsonstream.Pointer, spec match.Spec) (When, error) {
	m, err := match.Compile(spec, match.Target{}, false, match.Env{})
	return When{pointer: pointer, test: m, spec: spec}, err
}

// Of reports whether the data of a result says that the call succeeded. Data that
// cannot be read does not.
func (s *Success) Of(data []byte) bool {
	if s.text != nil {
		return s.text.Whole(data)
	}
	v, err := jsonstream.Parse(data, jsonstream.Options{})
	if err != nil {
		return false
	}
	if s.when != nil {
		return s.when.Holds(v)
	}
	code, found := s.exit.Find(v)
	d, ok := code.Decimal()
	return found && ok && d.Sign() == 0
}
