// Package glob implements the language of globs (K18): parsing to tokens, matching by tokens and by
// automaton, and globs over names.
//
//   - any run of code points
//     ?        one code point
//     [a-z]    one of these, [!a-z] one of the others
//     {a,b}    either; may be nested
//     \x       the code point x
//     !(a|*b)  in a path: any text, also the empty text in a longer name, except a and texts that
//     end in b
//
// Where "/" separates components, no wildcard matches it; only an alternative that spells it does.
// The meaning of "**" is up to the caller: here it is two tokens.
//
//	lists, err := glob.Parse("{log,show}*", false)
//	if err != nil {
//		return err // *glob.Error: the byte, a message, a hint
//	}
//	glob.Match(lists[0], []byte("log -p")) // true
//	name, err := glob.ParseName("github__*")
//	name.Match("github__issue") // true
//
// Tokens, automata and names match the same texts. Matching takes time proportional to the product
// of the lengths of glob and text at most, and never builds the automaton of a name. The automaton
// of alternatives grows with their text; one that grows faster, as that of "*a????????x", is given
// up early and is nil. The braces of one glob expand to at most
// [MaxAlternatives] alternatives, or the glob is rejected.
package glob
