// Package naiveflow is a second opinion on where a value occurs: a search through all parts of a
// text, with regular expressions and the parsers of the standard library. It shares no code with
// internal/flow/occur. Where the definition leaves room, as for a number next to a letter, its
// answer is Either.
//
// A [View] is a second opinion on the texts of a session: which texts a result has, which sources they
// have, and what a query finds. It keeps the texts, looks at all of them for every question, and shares
// no code with internal/flow/source and internal/flow/index. Where an answer is Either it guesses, and
// [Guesses] tries all of them: the engine must agree with one.
package naiveflow
