// Package policy is the language of stopgate: it reads policy files, checks them,
// and judges the arguments of a tool call with them, also while they are still
// arriving.
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
// # The language
//
// A policy file is TOML. In this grammar "..." is any string, | separates
// alternatives, what stands in ( )? may be left out.
//
//	version = 1
//	[gate]                      unknown_tool = "deny" | "ask"; unknown_params = "ask" | "deny" | "allow"
//	                            on_schema_violation = "deny" | "ask"; deny_mode = "tool_result" | "throw"
//	                            enforcement = "enforce" | "observe"; strict = true | false
//	[paths]                     root = "/..."; home = "/..."
//	[lists]                     NAME = [ value, ... ]
//	[tools.NAME]                source, also = [ "..." ], summary, description, unknown_params, on_schema_violation
//	[tools.NAME.parameters.P]   type = "string" | "number" | "integer" | "boolean" | "array" | "object" |
//	                            "path" | "command" | "url" | "patch", and the words of JSON Schema in snake case
//	[tools.NAME.policy]         run = MODE | [ RULE, ... ]; result = MODE | [ RULE, ... ]
//	[[guard]]                   a RULE for every tool, with on = "path" | "command" | "url" | "string" or arg
//
//	NAME   a tool, a glob over tools, or "*" for all that have no table of their own
//	RULE   { CONDITION | all = [ { CONDITION }, ... ] | nothing, mode = MODE (, match = "any" | "all")?
//	         (, when = { agent, surface, server, principal })? (, reason = "...")? (, note = "...")?
//	         (, ignores = [ "/pointer" ])? (, allow_unsafe_prefix = true)?
//	         (, examples = { match = [ EXAMPLE, ... ], no_match = [ EXAMPLE, ... ] })? }
//	EXAMPLE  { argument = value, ... }, or one value for the rule's argument: proved by [Check]
//	CONDITION  arg = "/json/pointer", MATCHER = value, or MATCHER_in = "list"
//	MATCHER    const enum pattern prefix suffix glob minimum maximum exclusive_minimum exclusive_maximum
//	           present min_items max_items max_length host scheme
//	MODE       "unattended" | "ask" | "edit" | "skip" | "deny"
//
// Inside a list the first rule that matches decides; a list without a match asks
// (D25-09, D25-10). A pointer follows the schema: where it has an array, every
// element is meant (D25-13). A restrictive rule matches if any of the values does,
// an unattended one only if all do, and there is one (THREATS 4.2). Guards are
// judged beside the list, and files beside each other: the strictest answer wins.
//
// # Checking
//
// [Check] finds pointers that resolve to nothing, matchers and literals of the
// wrong type, rules that no arguments reach, and traps: rules that are legal and
// let more through than they seem to. Every finding is a diagnostic with its place,
// a stable code and, where there is one, the text to write instead.
//
// What the package promises:
//
//   - All mistakes of a file are found in one run, or the first that makes it no
//     TOML. Nothing is ignored: a key that the language does not have is an error.
//   - What is reported as unreachable is proved: no schema-valid arguments with
//     plainly written values reach the rule. On single conditions over sets, ranges
//     and prefixes the answer is exact; elsewhere "not proven" is one of the answers
//     (THREATS 4.4).
//   - [Format] writes what it read: the same policy, every comment, one spelling.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package policy
