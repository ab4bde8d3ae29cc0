// Package symbolic says the rules of one tool in the terms of package analysis: a variable
// for every place that conditions look at, with what the schema lets stand there, and for
// every condition the set of values it accepts. What analysis finds it turns back into
// arguments of a call.
//
//	t := symbolic.New(env, schema)
//	for _, f := range analysis.Reach(t.List(rules), analysis.Budget{}) {
//		if f.Answer == match.Yes {
//			args, ok := t.Document(f.Witness)
//		}
//	}
//
// What the package promises:
//
//   - Domains and sets are about values that are plainly written, and never too small: where
//     a matcher or a schema says more than an automaton, an interval or a list can, the
//     condition is opaque, and the answer "not proven".
//   - A document fits the schema, or there is none.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package symbolic
