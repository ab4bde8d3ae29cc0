// Package analysis proves things about ordered lists of rules of which the first
// match decides: which rules no call can reach and why, and in which calls two
// lists differ.
//
//	list := analysis.List{Variables: vars, Rules: []analysis.Rule{
//		{Conditions: []analysis.Condition{prefixSrc}}, // decides first
//		{Conditions: []analysis.Condition{prefixSrcLib}},
//	}}
//	for i, f := range analysis.Reach(list, analysis.Budget{}) {
//		f.Answer // Yes: f.Witness reaches rule i; No: f.By cover it
//	}
//
// The package does not depend on files, tools or schemas. The caller describes the values
// that each pointer may have (a [Variable]) and the values that satisfy a condition (a
// [Set]). The results name rules by their index and hold the values of a witness.
//
// Guarantees:
//
//   - An answer is a proof. No says that no values of the variables' domains reach
//     the rule, by the rules it names alone; Yes comes with values, and each
//     condition was asked about them by its own [Condition.Holds]. A question that exceeds
//     the budget, or depends on a set that is not known exactly, is NotProven.
//   - The cost of a list is near-linear in its usual parts: literals and prefixes
//     are found by hash, ranges by their ends, and automata are only multiplied
//     for the rules that simple witnesses do not decide.
//   - It is pure: no I/O, no clock; the same list gives the same answers.
//
// # Why the answers are complete
//
// Rules look at variables, and variables are independent: a call is one choice for
// each. A rule with one condition above the one in question only narrows the values of
// its variable, so the values of those rules are removed first.
// A rule with several conditions fails if one of them does; if such a rule fires on
// the values found, each of its conditions is forbidden in turn and the search goes
// on. Where every branch ends without values, the rules met on the way cover the
// one in question. On a variable with several leaves - an array - a rule of kind
// any forbids its values for all leaves, and one of kind all wants one leaf outside
// of its values, or a branch without a leaf ("Complete law").
package analysis
