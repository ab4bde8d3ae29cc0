// Package shell takes command lines apart: which simple commands would a shell
// start for this text, and is that all there is to say about it?
//
//	var l shell.Line
//	l.Read([]byte("git log | timeout 5 grep foo 2>/dev/null"))
//	l.Plain             // true: a list of simple commands with literal words
//	len(l.Commands)     // 3: git log; timeout 5 grep foo; grep foo (unwrapped)
//	l.Read([]byte("git $(rm x)"))
//	l.Plain             // false
//	len(l.Commands)     // 2: git and what is substituted; rm x
//
// Two readers serve two needs. Certainty comes from a small strict
// reader of our own: a line is [Line.Plain] only if it is a list of simple commands
// that Bash and POSIX shells read alike, byte for byte. Suspicion comes from a full
// parser (mvdan.cc/sh), and for what that refuses from a cutter that sees a command
// behind every operator, quoted or not.
//
// What it promises:
//
//   - No text makes it fail: what is too long, too deep or not parsable is not
//     plain, and its pieces are still listed (E25, E27).
//   - Time and memory grow linearly with the text.
//   - A line that is plain is read by the full parser as the same commands with the
//     same words, as Bash and as POSIX shell. A fuzz test holds it to that.
package shell
