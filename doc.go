// Package stopgate defines the types of the gate between an AI agent and its
// tools: calls, modes, verdicts, outcomes, wire events and records.
//
// A policy decides for every tool call whether it runs, needs approval, is edited,
// is skipped or is denied, while the model is still writing the arguments. A call
// takes this path:
//
//	bytes -> wire -> events -> gate(policy, session) -> verdict -> approval -> record -> bytes
//
// Every arrow is a Go type that crosses one package border. The types live here
// and have no behaviour beyond printing and validating themselves; this package
// imports no other package of the project. To decide calls, start with package gate:
//
//	program, diags := policy.Compile(sources, policy.Options{})
//	g, err := gate.New(program)
//	out, err := g.Decide(ctx, stopgate.Call{Tool: "fs_read_file", Args: []byte(`{"path":"src/a"}`)})
//
// The zero value of every type that can carry a permission is the refusal: the
// zero [Mode] is [Deny], the zero [Verdict] is undecided and reads deny, the zero
// [Outcome] did not allow anything.
package stopgate
