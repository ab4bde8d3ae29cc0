// Package match compiles and evaluates one condition on one value, incrementally if the value is a
// plain string, with a permissive and a restrictive form for paths, commands and URLs (C, D). It
// knows no kind of condition: the definition in the specification builds the tests.
//
//	spec := kinds.Table().Spec(condition.Prefix, condition.Literal{Kind: condition.LiteralString, Text: "src/"})
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
//   - Limits fail closed: a command line or a patch of more than [condition.Budget], a value that is too
//     disguised or not valid UTF-8 satisfies a restrictive condition and fails a permissive one.
//     Strings, paths and URLs have no limit.
//   - A compiled [Matcher] is immutable and safe for concurrent use. Matching a plainly written
//     value does not allocate; only a disguised path, command or URL, and a restrictive path
//     beyond ASCII, does.
package match
