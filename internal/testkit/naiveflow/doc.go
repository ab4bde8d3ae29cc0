// Package naiveflow is a second opinion on where a value occurs: a search through all parts of a
// text, with regular expressions and the parsers of the standard library. It shares no code with
// internal/flow/occur. Where the definition leaves room, as for a number next to a letter, its
// answer is Either.
package naiveflow
