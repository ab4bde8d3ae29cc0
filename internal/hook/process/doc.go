// Package process is the process that a coding agent starts for every event: the command line, the
// policy of the agent's directory, the store, and the answer.
//
//	os.Exit(process.Program{Full: ask.Full}.Main(os.Args[1:], process.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
//
// Two programs use it to answer hooks in the same way: `stopgate hook`, which has all features, and
// `stopgate-hook`, which links only what almost every call needs, because an agent waits for it at
// each of its calls. If a policy needs more - judges, notifications about questions - the small
// program executes the full one, before it has opened anything.
//
// Every failure is a denial: an invalid command line, a policy with mistakes, a locked store, a
// missing full program.
package process
