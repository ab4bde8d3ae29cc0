// Package regular compiles the patterns of policies and JSON Schemas: ECMA-262
// syntax with ECMA-262 meaning, matched in linear time (Q9).
//
//	p, err := regular.Compile(`^git (status|log)( --oneline)?$`)
//	if err != nil {
//		return err // *SyntaxError: byte offset, message, hint
//	}
//	p.Match([]byte("git log --oneline")) // true
//	p.Match([]byte("git status; rm x"))  // false
//	p.AnchoredBothEnds()                 // true: safe on a permissive rule (D1)
//
// A pattern is read as JSON Schema reads it: as the `u` mode of ECMAScript, with
// no other flag, searched for anywhere in the text. So `.` is any code point but
// a line end (LF, CR, U+2028, U+2029), `\s` is ECMAScript's white space, `\d`,
// `\w` and `\b` are ASCII, `^` and `$` are the two ends of the text and never
// those of a line, and a character is a code point.
//
// Guarantees:
//
//   - A construct has its meaning of ECMA-262, or the pattern is refused with the
//     offset of the construct. No construct is reinterpreted (D4).
//   - Properties (`\p{...}`, Script_Extensions and Emoji included) and the folding of case
//     are those of Unicode 16.0.0, whatever the compiler's version.
//   - Matching takes time linear in the text, whatever the pattern: lookaround and
//     modifiers included. Backreferences, which no automaton runs, are refused (D8,
//     K52).
//   - Patterns are bounded: their length and nesting, and their size after the
//     repetitions are written out (K48).
//   - Text may arrive in pieces, cut anywhere; see [Automaton]. The results, and
//     the code point after which they are known, do not depend on the cuts.
//   - Questions about all strings of a [Language] are answered exactly, or with
//     "not proven" where they are too large.
//   - A compiled [Pattern] is immutable and safe for concurrent use.
package regular
