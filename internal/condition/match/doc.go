// Package match holds the matchers of the policy language: one condition on one
// value, incremental where the value is a plain string, two-sided where it is a
// path, a command or a URL (C, D).
//
//	spec := match.Spec{Kind: match.Prefix, Values: []match.Literal{{Kind: match.LiteralString, Text: "src/"}}}
//	m, err := match.Compile(spec, match.Target{Type: schema.String, Annotation: schema.Path}, false, match.Env{Root: "/srv/proj"})
//	m.Whole([]byte("src/x/../a"))   // true: plainly below src
//	m.Whole([]byte("src/%2e%2e/x")) // false: some reader sees another path
//
// A matcher is compiled for a polarity. A permissive one (the condition of an
// unattended rule) holds only for a value that is plainly written and inside the
// rule; a restrictive one (every other mode) holds if any plausible reading of
// the value is inside the rule. The same value may fail the first and satisfy
// the second.
//
// What it promises:
//
//   - A string is decided at the first code point after which no continuation can
//     change the answer, whatever the chunks (K10, I2). A path, command or URL is
//     decided on the whole value (K13).
//   - Numbers compare exactly (A19-A21, I10).
//   - No limit weakens an answer: a command line or a patch of more than [Budget], what is
//     too disguised or not valid UTF-8 satisfies a restrictive condition and fails a
//     permissive one. Strings, paths and URLs have no limit.
//   - A compiled [Matcher] is immutable and safe for concurrent use. Matching a
//     plainly written value allocates nothing; only a disguised path, command or
//     URL, and a restrictive path beyond ASCII, is spelled out on the heap.
//
// # Matchers by type
//
//	const, enum          every type; objects by their canonical text
//	pattern              strings, paths, commands, URLs: ECMA-262, see package regular
//	prefix               string: text; path and URL: whole components; command: words
//	suffix, glob         strings, paths, commands
//	max_length           every string, in code points
//	host, scheme         URLs
//	minimum, maximum, exclusive_minimum, exclusive_maximum      numbers
//	min_items, max_items arrays
//	present              everything; judged by the evaluator (K5)
//
// # Globs
//
// A glob matches the whole value (K18); package glob has the language. On a path none of
// its elements matches "/" but an alternative in braces that spells it, and "**" as a whole
// component stands for any number of components, also none.
//
// On a path a restrictive glob also matches everything below a matched directory,
// and one that begins with "**" also outside the root. "~/" at the start of a path
// literal is the home directory.
package match
