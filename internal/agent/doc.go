// Package agent implements a coding agent around the gate. It sends requests to a model,
// displays its calls while they are being written, shows questions of the policy
// immediately, cancels the response when every call is refused, and runs the allowed calls.
//
//	a, err := agent.New(agent.Options{Gate: g, Endpoint: endpoint, Tools: set, ...})
//	summary, err := a.Process(ctx, "fix the failing test")
//
// One prompt is one [Agent.Process]: responses of the model, calls and results, until the model
// makes no more calls or the person is next. Events are sent to a [Watcher]. Questions wait
// in a [QuestionQueue] while the stream continues.
//
// The agent runs exactly the bytes that the gate released. Declining a single call cancels
// the response; a call with siblings does not (D26-22, D26-23). After any refusal,
// truncation or crash, the history is valid for the provider, contains no truncated call,
// and names the calls that did not run (S7).
package agent
