package playground

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
)

// watched is the program, and remembers the evaluation that the gate started last: what is explained
// is the evaluation whose verdict the gate has.
type watched struct {
	*policy.Program
	last gate.Evaluation // nil before a call
}

// RulesFor implements [gate.Policy].
func (w *watched) RulesFor(call stopgate.Call, c gate.Circumstances) gate.Rules {
	return watchedRules{w.Program.RulesFor(call, c), w}
}

type watchedRules struct {
	gate.Rules
	w *watched
}

// Evaluate implements [gate.Rules].
func (r watchedRules) Evaluate(texts flow.View) gate.Evaluation {
	r.w.last = r.Rules.Evaluate(texts)
	return r.w.last
}

// explain returns the explanation of the evaluation, which must not have ended.
func (w *watched) explain() (x eval.Explanation) {
	if e, ok := w.last.(interface{ Explain() eval.Explanation }); ok {
		x = e.Explain()
	}
	return x
}
