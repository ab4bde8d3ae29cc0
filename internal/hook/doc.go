// Package hook evaluates the tool calls of coding agents (hosts) that run a program before
// each tool. It reads the host's event from standard input, asks the gate, and writes the
// decision in the format that the host enforces.
//
//	host, err := hook.Lookup("claude-code")
//	...
//	reply := host.Run(ctx, hook.Options{Open: open}, os.Stdin)
//	os.Stdout.Write(reply.Stdout)
//	os.Stderr.Write(reply.Stderr)
//	os.Exit(reply.Exit)
//
// Most hosts run the tool if the hook crashes, prints invalid output or takes too long.
// Therefore every event about a tool gets a decision before the deadline, and every failure
// is a denial in the host's format: an invalid event, an unreadable policy, a locked store,
// a panic, a timeout (FM9, I14). The zero [Decision] blocks.
//
// A process that is killed writes nothing; [Host.Limitations] lists what a hook cannot
// prevent. The command line that package internal/host/install writes covers most of these
// cases.
//
// Reading order: run.go (one event), event.go (reading it), decision.go, host.go, then one
// file per host, which has everything that is specific to it: claude.go, codex.go, gemini.go.
package hook
