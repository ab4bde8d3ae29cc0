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
//			return v // final, whatever follows
//		}
//	}
//	return e.Close(stopgate.Ended)
//
// # The meaning
//
// Package [github.com/stopgate/stopgate/internal/lang/syntax] has the grammar of policy files,
// package [github.com/stopgate/stopgate/internal/eval] judges calls.
// In a list the first rule that matches decides; a list without a match asks (D25-09, D25-10).
// A pointer follows the schema: where that has an array, the pointer selects every element
// (D25-13). A restrictive rule matches if any of the values does, an unattended one only if
// there is a value and all values match. Guards are evaluated in addition to the list, and all
// files are: the strictest answer wins.
//
// [Check] finds pointers to parameters that the tool lacks, matchers and literals of the wrong
// type, examples that do not hold, and traps: legal rules that permit more than they seem to.
// Every finding is a diagnostic with its position, a stable code and, if there is one, the
// replacement text. Package internal/prove adds unreachable rules.
//
// Guarantees:
//
//   - All mistakes of all files are found in one run. A program exists if and only if no
//     finding is an error.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package policy
