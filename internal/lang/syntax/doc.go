// Package syntax is the tree of a policy file, with positions: it spells single rules, finds the
// tables of a tool, and computes the hash of a policy's meaning. Package parser reads the tree from
// a text.
//
//	file, mistakes := parser.Parse(kinds.Table(), "stopgate.toml", text)
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
// alternatives, and ( )? is optional.
//
//	version = 1
//	[gate]                      unknown_tool = "deny" | "ask"; unknown_params = "ask" | "deny" | "allow"
//	                            uncovered = "ask" | "deny" | "allow"
//	                            on_schema_violation = "deny" | "ask"; deny_mode = "tool_result" | "throw"
//	                            enforcement = "enforce" | "observe"; strict = true | false; denial_limit = N;
//	                            structured_output = "rules" | "unattended"
//	[paths]                     root = "/..."; home = "/..."
//	[lists]                     NAME = [ value, ... ]
//	[sources.NAME]              tool = [ "..." ], trusted, asked, items, where, field, label, format, as;
//	                            [sources.user] has only = "last"; see [SourceTable]
//	[flow]                      keep = "hashes" | "none"; keep_text; own = [ "..." ]; budget = "8MiB"
//	[tools.NAME]                source, command, also = [ "..." ], summary, description, success, unknown_params,
//	                            uncovered, on_schema_violation, access, effect
//	[tools.NAME.parameters.P]   type = "string" | "number" | "integer" | "boolean" | "array" | "object" |
//	                            "path" | "command" | "url" | "patch", and the words of JSON Schema in snake case, and as
//	[tools.NAME.policy]         run = MODE | [ RULE, ... ]; result = MODE | [ RULE, ... ]
//	[[guard]]                   a RULE for every tool, with on = "path" | "command" | "url" | "string" or arg
//	[[session]]                 type = "require" | "read_before_write" | "limit" | "flow"; see [SessionPolicy]
//	[[handoffs]]                from, to, mode; see [Handoff]
//	[servers]                   NAME = "PACK": another name of the MCP server of a pack; see [ServerName]
//	[judge]                     model, tools, threshold; see [Judge]
//
//	NAME   a tool, a glob over tools, or "*" for all that have no table of their own
//	RULE   { (CONDITION, | all = [ { CONDITION }, ... ],)? mode = MODE (, match = "any" | "all")?
//	         (, same_text = true)? (, when = { agent, surface, server, principal, group, session = "/pointer", MATCHER = value,
//	         says = "...", anywhere = true, effect })?
//	         (, reason = "...")? (, note = "...")? (, ignores = [ "/pointer" ])? (, allow_unsafe_prefix = true)?
//	         (, below = "ask" | "ignore")? (, examples = { match = [ EXAMPLE, ... ], no_match = [ EXAMPLE, ... ] })? }
//	EXAMPLE  { argument = value, ... }, or one value for the rule's argument: package policy proves it
//	CONDITION  arg = "/json/pointer", MATCHER = value, or MATCHER_in = "list", and further keys of the matcher
//	MATCHER    const enum pattern prefix suffix glob minimum maximum exclusive_minimum exclusive_maximum
//	           present min_items max_items max_length host scheme cidr usage reads writes outside from not_from carries
//	MODE       "unattended" | "ask" | "edit" | "skip" | "deny"
//
// The operational tables ([gateway], [audit], ...) are kept as written in [File.Tables]; the
// packages that own them decode them.
//
// Properties:
//
//   - All mistakes of a file are found in one run, or the first syntax error. No key is ignored:
//     an unknown one is an error.
//   - Formatting with [Format] keeps the policy and every comment, and is idempotent.
//   - [Hash] is equal for files that differ only in order or spelling, and the ID of a rule
//     survives every change that does not affect its meaning.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package syntax
