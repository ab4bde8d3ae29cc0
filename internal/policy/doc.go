// Package policy checks policy files and makes programs of them, which judge the arguments of
// tool calls while they are still arriving.
//
//	program, diags := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: text, Trusted: true}}, policy.Options{})
//	if diags.HasErrors() {
//		return diags
//	}
//	e := program.Bind(stopgate.Call{Tool: "write_file"}).Evaluate()
//	for chunk := range chunks {
//		if v := e.Feed(chunk); v.Terminal() {
//			return v // no later byte changes it
//		}
//	}
//	return e.Close(stopgate.Ended)
//
// # The meaning
//
// Package [github.com/stopgate/stopgate/internal/lang/syntax] has the grammar of policy files,
// package [github.com/stopgate/stopgate/internal/eval] judges calls.
// Inside a list the first rule that matches decides; a list without a match asks
// (D25-09, D25-10). A pointer follows the schema: where it has an array, every
// element is meant (D25-13). A restrictive rule matches if any of the values does,
// an unattended one only if all do, and there is one. Guards are
// judged beside the list, and files beside each other: the strictest answer wins.
//
// [Check] finds pointers that resolve to nothing, matchers and literals of the wrong type,
// examples that do not hold, and traps: rules that are legal and let more through than they
// seem to. Every finding is a diagnostic with its position, a stable code and, where there is
// one, the text to write instead. Package internal/prove adds rules that nothing reaches.
//
// Guarantees:
//
//   - All mistakes of all files are found in one run. A program exists if and only if no
//     finding is an error.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package policy
