// Package events has the interfaces and types for event policies of the LLM gateway. Policies
// observe an exchange, and can change the text of its response, drop calls, and change or refuse
// requests.
//
// A policy has a name and any of nine hooks, each an interface with one method (S53):
//
//	type shout struct{}
//
//	func (shout) Name() string { return "shout" }
//
//	func (shout) OnContentDelta(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Content, delta string) error {
//		return s.SendText(strings.ToUpper(delta), false)
//	}
//
//	gw, err := gateway.New(gateway.Options{Gate: g, Policies: []events.Policy{shout{}}})
//
// The same policy works for OpenAI Chat Completions, OpenAI Responses, Anthropic Messages and Gemini,
// streamed or not, because hooks receive text and calls instead of a provider's JSON. Parts of a
// response without a hook are forwarded byte for byte. Changes affect only text; ids, usage,
// reasoning, refusals and unknown members keep the provider's bytes.
//
// Guarantees:
//
//   - Policies run in order, each on the output of the one before it. The gate always runs
//     last: it judges every call that policies send, and no policy relaxes a verdict.
//   - Within an exchange one hook runs at a time.
//   - An error, a panic or a timeout of a hook ends the response as a failure. Text that was
//     not sent before is not sent (I14, FM15).
//   - Calls are buffered until all policies and the gate have decided.
//
// docs/policies.md is the guide to writing policies.
package events
