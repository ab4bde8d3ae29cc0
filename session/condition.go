package session

import (
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/eval"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/policy/syntax"
)

// When is a condition over the session's data, in the same language as those over
// arguments (DESIGN 3).
type When struct{ test *eval.DataTest }

// NewWhen compiles a condition. What gates a policy that restricts is in doubt
// held to be met.
func NewWhen(pointer jsonstream.Pointer, spec match.Spec, env match.Env) (When, error) {
	t, err := eval.NewDataTest(syntax.SessionCondition{Pointer: pointer, Spec: spec}, true, env)
	return When{t}, err
}

// Holds reports whether the data fits. A value that is missing fits only
// `present = false`; of several values one that fits is enough.
func (w When) Holds(data jsonstream.Value) bool {
	holds, _ := w.test.Holds(data)
	return holds
}
