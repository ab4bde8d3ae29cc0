// Package agent is a whole coding agent around the gate: it asks a model, shows its
// calls while they are being written, puts the questions of the policy before a person
// at once, stops the model when the answer is no, and runs what may run.
//
//	a, err := agent.New(agent.Options{Gate: g, Endpoint: endpoint, Tools: set, ...})
//	summary, err := a.Say(ctx, "fix the failing test")
//
// One message of a person is one [Agent.Say]: answers of the model, calls and results,
// until the model has nothing more to call, or the person has to speak. What happens is
// told to a [Watcher]; questions wait in a [Desk] until somebody answers them, while
// the stream goes on.
//
// What it promises: the agent runs exactly the bytes that the gate released, and
// nothing else; a call that is declined alone stops the model, one with siblings does
// not (D26-22, D26-23); whatever is declined, cut or killed, the history that the model
// sees is legal for its provider, holds no truncated call, and says what did not run
// (DECISIONS S7).
package agent
