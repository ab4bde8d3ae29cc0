// Package judge asks a model whether a tool call is harmful, over an endpoint that is
// compatible with OpenAI's Chat Completions or with Anthropic's Messages (V3-19). It is
// a [gate.Judge]: it hears of a call after every deterministic layer let it live, and it
// can only tighten.
//
//	bench := judge.New(judge.Options{})
//	g, err := gate.New(program, gate.WithJudges(bench.Judge))
//
// What it promises (THREATS H13, INVARIANTS FM1):
//
//   - The call is data. It is sent as one JSON object whose arguments are a JSON string,
//     between two lines with a marker that is derived from the data itself, so that
//     nothing in the data can end it. The instructions are the file prompt.md and what
//     the operator added to them, and nothing else.
//   - The answer has a forced form. What is not exactly that form - other members, a
//     member twice, a number outside of 0 to 1, a refusal, an answer that was cut - is a
//     failure, and a failure is never a pass.
//   - There is one deadline for everything. A request is repeated once, and only where the
//     server was busy or the connection broke; never after 401 or 403.
//   - The same proposal - tool, definition, arguments, model, instructions - gets the same
//     answer for as long as the policy says (DECISIONS S27).
//   - The explanation that rows keep does not repeat what it quotes of arguments
//     (THREATS H17).
package judge
