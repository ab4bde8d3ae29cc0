// Package naive is a second, deliberately simple evaluator of the policy
// language. Tests compare the real one with it.
//
// It reads the whole argument text, builds a tree, collects the leaves of every
// pointer by walking the tree, and applies rules from top to bottom, floors last.
// It has no state, no automata and no code in common with jsonstream, schema,
// regular, policy or internal/condition/match: a matcher shared by both sides would hide its
// own bugs. Numbers are math/big.Rat, patterns run on a backtracking engine,
// paths are compared by listing their readings.
//
// Because the first refusal in byte order wins (K7), a verdict depends
// on when things become known. The naive evaluator therefore writes a byte offset
// beside every fact: Never stands for what the text does not tell any more. With
// them it also says what the streaming evaluator has to publish, byte by byte.
package naive
