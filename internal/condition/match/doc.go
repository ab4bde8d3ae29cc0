// Package match implements the conditions of the policy language: one condition on one value,
// incremental if the value is a plain string, with a permissive and a restrictive form for paths,
// commands and URLs (C, D).
//
//	spec := condition.Spec{Kind: condition.Prefix, Values: []condition.Literal{{Kind: condition.LiteralString, Text: "src/"}}}
//	m, err := match.Compile(spec, condition.Target{Type: schema.String, Annotation: schema.Path}, false, condition.Env{Root: "/srv/proj"})
//	m.Match([]byte("src/x/../a"))   // true: plainly below src
//	m.Match([]byte("src/%2e%2e/x")) // false: some tools read another path
//
// A matcher is compiled for a polarity. A permissive one (the condition of an unattended rule)
// matches only a value that is plainly written and satisfies the rule; a restrictive one (every
// other mode) matches if any plausible reading of the value does. The same value may fail the first
// and satisfy the second.
//
// Properties:
//
//   - A string is decided at the first code point after which no continuation can change the
//     result, in any chunking (K10, I2). A path, command or URL is decided when it is complete
//     (K13).
//   - Numbers are compared exactly (A19-A21, I10).
//   - Limits fail closed: a command line or a patch of more than [Budget], a value that is too
//     disguised or not valid UTF-8 satisfies a restrictive condition and fails a permissive one.
//     Strings, paths and URLs have no limit.
//   - A compiled [Matcher] is immutable and safe for concurrent use. Matching a plainly written
//     value does not allocate; only a disguised path, command or URL, and a restrictive path
//     beyond ASCII, does.
//
// # Matchers by type
//
//	const, enum          every type; objects by their canonical text
//	pattern              strings, paths, commands, URLs: ECMA-262, see package regular
//	prefix               string: text; path and URL: complete components; command: words
//	suffix, glob         strings, paths, commands
//	max_length           every string, in code points
//	host, scheme         URLs
//	cidr                 strings and URLs, see package cidr
//	minimum, maximum, exclusive_minimum, exclusive_maximum      numbers
//	min_items, max_items arrays
//	present              everything; evaluated by package eval (K5)
//
// # Globs
//
// A glob matches the complete value (K18); package glob describes the language. In a path none of
// its elements matches "/", except an alternative in braces that spells it, and "**" as a complete
// component matches any number of components, including none.
//
// In a path a restrictive glob also matches everything below a matched directory, and one that
// begins with "**" also matches outside of the root. "~/" at the start of a path literal is the
// home directory.
package match
