// Package shell parses command lines: it returns the simple commands that a shell may start for a
// text, and whether that is certain.
//
//	var l shell.Line
//	l.Read([]byte("git log | timeout 5 grep foo 2>/dev/null"))
//	l.Plain             // true: a list of simple commands with literal words
//	len(l.Commands)     // 3: git log; timeout 5 grep foo; grep foo (unwrapped)
//	l.Read([]byte("git $(rm x)"))
//	l.Plain             // false
//	len(l.Commands)     // 2: git and the substituted command rm x
//
// There are two parsers. A small strict parser establishes certainty: a line is [Line.Plain] only
// if it is a list of simple commands that Bash and POSIX shells read in the same way, byte for
// byte. A full parser (mvdan.cc/sh) finds everything that may run; a text that it rejects is cut
// into pieces at every operator, quoted or not, each of which may be a command.
//
// Properties:
//
//   - No text makes it fail: a text that is too long, too deeply nested or not parsable is not
//     plain, and its pieces are still listed (E25, E27).
//   - Time and memory grow linearly with the text.
//   - The full parser reads a plain line as the same commands with the same words, as Bash and
//     as POSIX shell. A fuzz test checks this.
package shell
