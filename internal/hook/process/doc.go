// Package process is the process that a coding agent starts for every event: its command
// line, the policy that holds where the agent works, the store, and the answer.
//
//	os.Exit(process.Program{Full: beside}.Main(os.Args[1:], process.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
//
// Two programs answer hooks with it, in the same way: `stopgate hook`, which can do all,
// and `stopgate-hook`, which links only what almost every call needs, because a process
// that does less until it answers is what an agent waits for at each of its calls. What a
// policy asks for beyond that - judges, somebody who is told of questions - the small
// program leaves to the full one by becoming it, before it has opened anything.
//
// Whatever goes wrong is a denial: a command line that cannot be read, a policy with
// mistakes, a store that is locked, a full program that is missing.
package process
