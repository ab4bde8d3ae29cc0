package dryrun

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/internal/trial"
)

// Decider is a [trial.Decider] with sessions in memory.
type Decider struct{ trial.Decider }

// NewDecider makes a decider of a loaded policy.
func NewDecider(l inputs.Loaded, more ...gate.Option) (Decider, error) {
	return deciderOf(l.Program, l.Program, more)
}

func deciderOf(of gate.Policy, program *policy.Program, more []gate.Option) (Decider, error) {
	j, err := trial.NewDecider(of, program, kinds.Memory(), more...)
	return Decider{j}, err
}

// Answer is the answer of decide and explain to a call that was just judged.
func (j Decider) Answer(call stopgate.Call, v stopgate.Verdict, size int) Answer {
	return Answer{j.Decider.Answer(call, v, size)}
}

// GateFor makes the gate that a policy is tried on.
func GateFor(program gate.Policy, person gate.Approver, more ...gate.Option) (*gate.Gate, error) {
	return trial.NewGate(program, kinds.Memory(), person, more...)
}
