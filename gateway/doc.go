// Package gateway is the LLM API gateway: an http.Handler between an agent and its model provider.
// It forwards everything except tool calls, and buffers every tool call until the gate has decided
// it.
//
//	gw, err := gateway.New(gateway.Options{Gate: g, Settings: gateway.DefaultSettings()})
//	err = gw.Serve(ctx, listener)
//
// Clients need only its base URL. It uses the provider's own API (OpenAI Chat Completions, OpenAI
// Responses, Anthropic Messages) in both directions and never translates between them.
//
// One goroutine, the handler's, runs one exchange. It reads and validates the request, sends a new
// request upstream, and then decodes, gates and writes the response:
//
//	read -> sse.Decoder -> provider.Stream -> gate.Pending -> release or denial -> write, flush
//
// Guarantees:
//
//   - No byte of a call reaches the client before the call's final verdict, and a denied call
//     never does; every pending call gets exactly one audit row (I23).
//   - Unchanged bytes are forwarded as soon as they were read, with one write and one flush
//     per read.
//   - A response that cannot continue ends with the dialect's error event and an aborted body,
//     so that no client mistakes it for a complete one.
//   - Routes are denied by default, upstreams come only from the configuration, redirects are
//     not followed, and addresses of metadata services are not dialled.
//   - Every wait has a deadline and every buffer a limit; above a limit a call is denied,
//     never forwarded without a verdict (FM14).
package gateway
