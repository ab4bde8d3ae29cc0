// Command stopgate decides, from one policy file, whether an AI agent's tool
// call may run, and it decides while the call is still being written by the
// model.
//
//	stopgate demo            play a recorded session through the running gate
//	stopgate up              gateway on loopback; without a key it uses a replay model
//	stopgate mcp -- SERVER   the gate before an MCP server
//	stopgate init            write a first policy, with tests
//	stopgate check FILE      proofread a policy
//	stopgate test            run the tests of policies
//	stopgate fmt FILE        write it in its canonical layout
//	stopgate decide ...      decide one call, or many
//	stopgate explain ...     say rule by rule why
//
// This package holds flags, wiring and output, one file per command, and no
// decisions.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes; docs/reference/exit-codes.md says the same.
const (
	exitOK        = 0  // allowed, clean
	exitTrouble   = 1  // the tool could not do its work
	exitDenied    = 2  // denied or skipped
	exitMistakes  = 3  // the policy has mistakes
	exitUndecided = 4  // a person must answer
	exitUsage     = 64 // the command line is wrong
)

func main() {
	os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// streams are data in, data out and talk.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

func run(args []string, s streams) int {
	// version answers before anything else is set up.
	if len(args) == 1 && (args[0] == "version" || args[0] == "--version") {
		printVersion(s.out)
		return exitOK
	}
	// A hook is started once for every call.
	if len(args) > 0 && args[0] == "hook" {
		if code, ok := runHook(args[1:], s); ok {
			return code
		}
	}
	root := newRoot(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(context.Background())
	return report(s, cmd, err)
}

// interruptible ends a command's work at SIGINT and SIGTERM. A second signal ends
// the process at once. Commands that hold nothing to put away do without it.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
