// Package symbolic translates the rules of one tool for package analysis: a variable for every
// pointer of the conditions, with the values that the schema allows, and for every
// condition the set of values that it accepts. It turns the witnesses of analysis into arguments
// of a call.
//
//	t := symbolic.New(env, schema)
//	for _, f := range analysis.Reach(t.List(rules), analysis.Budget{}) {
//		if f.Answer == regular.Yes {
//			args, ok := t.Document(f.Witness)
//		}
//	}
//
// Guarantees:
//
//   - Domains and sets describe values that are plainly written, and are never too small: where
//     an automaton, an interval or a list cannot express a matcher or a schema, the condition is
//     opaque, and the answer is "not proven".
//   - A document fits the schema, or there is none.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package symbolic
