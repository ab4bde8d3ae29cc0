// Package gateway is the LLM API gateway: an http.Handler that stands between an
// agent and its model provider, lets everything pass that is no tool call, and
// holds every tool call until the gate has decided it.
//
//	gw, err := gateway.New(gateway.Options{Gate: g, Settings: gateway.DefaultSettings()})
//	err = gw.Serve(ctx, listener)
//
// A client is pointed at it by its base URL and nothing else; it speaks the
// provider's own API (OpenAI Chat Completions, Anthropic Messages) in both
// directions and never translates between them.
//
// One exchange is one goroutine, the handler's. It reads the request to its end
// and checks it, sends a new request upstream, and then owns decoding, gating and
// writing of the response:
//
//	read -> sse.Decoder -> wire.Stream -> gate.Pending -> release or denial -> write, flush
//
// What it promises:
//
//   - Nothing of a call reaches the client before the call's final verdict, and a
//     denied call never does (WIRE L3); every proposal gets one audit row (I23).
//   - What is not changed passes byte for byte, as soon as it was read: one write
//     and one flush per read, and a flush is never left out on a guess.
//   - A response that cannot go on ends with the dialect's error event and a broken
//     body, so that no client mistakes it for a complete one (WIRE 9.6).
//   - Routes are default-deny, upstreams come from the configuration only, nothing
//     is redirected, and addresses of metadata services are not dialled.
//   - Every wait has a deadline and every buffer a bound; over a limit a call is
//     denied, never passed unjudged (FM14).
package gateway
