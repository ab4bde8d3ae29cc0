// Package events is how policies take part in the traffic of the LLM gateway: they are
// told what happens in an exchange, and may change the text of a response, drop calls,
// and change or refuse requests (V3).
//
// A policy has a name and any of nine hooks, each an interface of one method
// (DECISIONS S53):
//
//	type shout struct{}
//
//	func (shout) Name() string { return "shout" }
//
//	func (shout) OnContentDelta(_ context.Context, _ *events.Exchange, s *events.Stream, _ *events.Content, delta string) error {
//		return s.SendText(strings.ToUpper(delta), false)
//	}
//
//	chain, err := events.NewChain(shout{})
//
// One policy works on OpenAI Chat Completions, OpenAI Responses and Anthropic Messages,
// streamed or not: hooks see text and calls, never a provider's JSON. What no hook of
// any policy asks for is forwarded byte for byte, and a chain without a hook costs
// nothing. Of what a hook changes, only the text that it sends is new; ids, usage,
// reasoning, refusals and everything unknown stay as the provider wrote them.
//
// What the package promises:
//
//   - Policies are asked in order, each sees what the one before it made. The gate is
//     always last: nothing that a policy sends runs without its verdict, and no policy
//     loosens one.
//   - Within an exchange one hook runs at a time (V3-15).
//   - An error, a panic and a hook that takes too long end the response as a failure.
//     What was not sent yet stays unsent (INVARIANTS I14, FM15).
//   - Calls are held until all policies and the gate have decided (THREATS 5).
//
// The guide to writing policies is docs/policies.md.
package events
