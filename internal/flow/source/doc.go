// Package source decides who wrote the texts that surfaces report, by the [sources.NAME] tables of
// a policy, and adds them to the index of their session.
//
// A result is read as JSON if it parses, else as plain text or HTML. Each leaf of a structured
// result is a text of its own, with its pointer, and has the source "tool". It has a declared source
// besides if the definition covers it: the tool, the arguments of the call, the item and the field
// all fit. Two strengths of that are kept apart:
//
//   - certain: the definition covers the text. Permissive conditions need it.
//   - suspected: the definition may cover it, and this is not known: the call failed or was not
//     released, the result does not parse, a person does not see the text, or the agent itself may
//     have written it. Restrictive conditions and session policies accept it.
//
// What launders is no source: results of tools with an effect; values that the agent wrote with an
// effect and reads back; results of a read whose path, address or id the agent wrote. See written.go.
//
// A message of a person has the source "user", without the parts that a person did not write: blocks
// of the client, repeated lines of results, prompts that a model wrote for a sub-agent, hidden
// characters. See message.go.
//
// A definition that leans on another (from = [...]) is evaluated with certainty, after the texts of
// that source. Definitions that lean on themselves cover nothing.
//
// Everything is bounded: documents by size, depth and number of values, patterns by linear time. A
// text beyond a bound is omitted, which restricts and never permits.
package source
