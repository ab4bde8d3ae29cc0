// Package syntax is the language of policy files as text: it reads a file into a tree
// with positions, writes it in its canonical layout, spells single rules, and says by a
// hash what a file means. It knows no tool and judges no call: what rules do is the work
// of package policy.
//
//	file, mistakes := syntax.Parse("stopgate.toml", text)
//	if mistakes.HasErrors() {
//		return mistakes
//	}
//	for rule := range file.Rules() {
//		fmt.Println(rule.Label(), rule.Text(), rule.ID)
//	}
//
// # The language
//
// A policy file is TOML. In this grammar "..." is any string, | separates
// alternatives, what stands in ( )? may be left out.
//
//	version = 1
//	[gate]                      unknown_tool = "deny" | "ask"; unknown_params = "ask" | "deny" | "allow"
//	                            uncovered = "ask" | "deny" | "allow"
//	                            on_schema_violation = "deny" | "ask"; deny_mode = "tool_result" | "throw"
//	                            enforcement = "enforce" | "observe"; strict = true | false; denial_limit = N;
//	                            structured_output = "rules" | "unattended"
//	[paths]                     root = "/..."; home = "/..."
//	[lists]                     NAME = [ value, ... ]
//	[tools.NAME]                source, command, also = [ "..." ], summary, description, success, unknown_params,
//	                            uncovered, on_schema_violation
//	[tools.NAME.parameters.P]   type = "string" | "number" | "integer" | "boolean" | "array" | "object" |
//	                            "path" | "command" | "url" | "patch", and the words of JSON Schema in snake case
//	[tools.NAME.policy]         run = MODE | [ RULE, ... ]; result = MODE | [ RULE, ... ]
//	[[guard]]                   a RULE for every tool, with on = "path" | "command" | "url" | "string" or arg
//	[[session]]                 type = "require" | "read_before_write" | "limit"; see [SessionPolicy]
//	[[handoffs]]                from, to, mode; see [Handoff]
//	[judge]                     model, tools, threshold; see [Judge]
//
//	NAME   a tool, a glob over tools, or "*" for all that have no table of their own
//	RULE   { CONDITION | all = [ { CONDITION }, ... ] | nothing, mode = MODE (, match = "any" | "all")?
//	         (, when = { agent, surface, server, principal, session = "/pointer", MATCHER = value })?
//	         (, reason = "...")? (, note = "...")? (, ignores = [ "/pointer" ])? (, allow_unsafe_prefix = true)?
//	         (, below = "ask" | "ignore")? (, examples = { match = [ EXAMPLE, ... ], no_match = [ EXAMPLE, ... ] })? }
//	EXAMPLE  { argument = value, ... }, or one value for the rule's argument: package policy proves it
//	CONDITION  arg = "/json/pointer", MATCHER = value, or MATCHER_in = "list"
//	MATCHER    const enum pattern prefix suffix glob minimum maximum exclusive_minimum exclusive_maximum
//	           present min_items max_items max_length host scheme usage reads writes
//	MODE       "unattended" | "ask" | "edit" | "skip" | "deny"
//
// The operational tables ([gateway], [audit], ...) are kept as they are written, in
// [File.Tables]; their owners read them.
//
// What the package promises:
//
//   - All mistakes of a file are found in one run, or the first that makes it no
//     TOML. Nothing is ignored: a key that the language does not have is an error.
//   - [Format] writes what it read: the same policy, every comment, one spelling.
//   - [Hash] is equal for files that say the same in another order or spelling, and a
//     rule's ID survives every change but one of what the rule says.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package syntax
