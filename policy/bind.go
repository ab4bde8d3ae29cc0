package policy

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Binding is a program applied to one tool, one definition of it and the constant
// facts of a call: agent, surface, server and principal. It is immutable and safe
// for concurrent use; calls that agree in these can share it.
type Binding struct {
	refused stopgate.Verdict
}

// Bind resolves everything about a call that does not depend on its arguments:
// which tables apply, which rules their conditions on the call leave, how they fit
// the tool's schema. It never fails: what cannot be judged denies.
func (p *Program) Bind(c stopgate.Call) *Binding { return &Binding{} }

// Evaluate begins the evaluation of one call.
func (b *Binding) Evaluate() *Evaluation {
	e := new(Evaluation)
	e.Reset(b)
	return e
}

// Definition returns the hash of the tool definition the call came with, "" if it
// had none.
func (b *Binding) Definition() string { return "" }

// ResultMode says whether the result of a call may be delivered, from the arguments
// that ran (D25-42, K32).
func (b *Binding) ResultMode(executed *jsonstream.Document) stopgate.Verdict {
	return stopgate.Verdict{Decided: true, Code: stopgate.CodePolicyNotConfigured}
}
