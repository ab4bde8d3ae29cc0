// Package glob is the language of globs (K18): what one matches, as a list of tokens and
// as an automaton, and globs over names.
//
//   - any run of code points
//     ?        one code point
//     [a-z]    one of these, [!a-z] one of the others
//     {a,b}    either; may be nested
//     \x       the code point x
//     !(a|*b)  on a path: any text, also none in a longer name, but a and what ends in b
//
// Where "/" separates components, none of them matches it but an alternative that spells
// it. What "**" means is the caller's matter: here it is two tokens.
//
//	lists, err := glob.Parse("{log,show}*", false)
//	if err != nil {
//		return err // *glob.Error: the byte, a message, a hint
//	}
//	glob.Match(lists[0], []byte("log -p")) // true
//	name, err := glob.ParseName("github__*")
//	name.Match("github__issue") // true
//
// What it promises: what matches is the same for tokens, automata and names; a glob is
// matched in time proportional to the product of its length and the text's at most; the
// braces of one glob stand for [MaxAlternatives] alternatives, or it is refused.
package glob
