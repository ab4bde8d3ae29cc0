// Package hook lets the gate decide inside coding agents that call a program
// before they run a tool: it reads the host's event from standard input, asks the
// gate, and answers in the form that this host enforces.
//
//	host, err := hook.Lookup("claude-code")
//	...
//	reply := host.Run(ctx, hook.Options{Open: open}, os.Stdin)
//	os.Stdout.Write(reply.Stdout)
//	os.Stderr.Write(reply.Stderr)
//	os.Exit(reply.Exit)
//
// Most hosts run the tool when a hook crashes, prints garbage or takes too long.
// So the package promises: every event about a tool gets an answer, in time, and
// whatever goes wrong on the way - text that is no event, a policy that cannot be
// read, a store that is locked, a panic, the deadline - is a denial in the host's
// own form (INVARIANTS FM9, I14). The zero [Answer] blocks.
//
// What cannot be promised from the inside is said by [Host.Holes]: a process that is
// killed answers nothing. The command line that package hook/install writes covers
// most of that.
package hook
