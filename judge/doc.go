// Package judge asks a language model whether a tool call is harmful, through an endpoint
// compatible with OpenAI's Chat Completions or Anthropic's Messages. It implements [gate.Judge]: it
// evaluates a call after every deterministic layer has allowed it, and it can only make the verdict
// stricter.
//
//	factory := judge.New(judge.Options{})
//	g, err := gate.New(program, gate.WithJudges(factory.Judge))
//
// Guarantees (H13, FM1):
//
//   - The call is data. It is sent as one JSON object whose arguments are a JSON string,
//     between two lines with a marker derived from the data, so the data cannot contain the
//     marker. The instructions are the file prompt.md and the operator's guidance.
//   - The response has a fixed form. Any deviation is a failure: extra members, a repeated
//     member, a number outside of 0 to 1, a refusal, a truncated response. A failure never
//     allows a call.
//   - One deadline covers everything. A request is retried once, and only if the server was
//     busy or the connection broke; never after 401 or 403.
//   - The same pending call (tool, definition, arguments, model, instructions) gets the same
//     response for as long as the policy configures (S27).
//   - The explanation in audit rows does not repeat quotations from arguments (H17).
package judge
