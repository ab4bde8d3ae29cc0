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
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"github.com/stopgate/stopgate/internal/release"
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
	if code, no := unsupported(runtime.GOOS, args, s.err); no {
		return code
	}
	// version answers before anything else is set up.
	if len(args) == 1 && (args[0] == "version" || args[0] == "--version") {
		out := &written{to: s.out}
		printVersion(out)
		return out.status(s, exitOK)
	}
	// A hook is started once for every call.
	if len(args) > 0 && args[0] == "hook" {
		if code, ok := runHook(args[1:], s); ok {
			return code
		}
	}
	out := &written{to: s.out}
	root := newRoot(streams{s.in, out, s.err})
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(context.Background())
	return out.status(s, report(streams{s.in, out, s.err}, cmd, err))
}

// unsupported says before all else that nothing works on a system, and reports whether that
// is so. To an agent that asks a hook it says no: another status would let the call run.
func unsupported(system string, args []string, talk io.Writer) (code int, no bool) {
	why := release.Unsupported(system)
	if why == "" {
		return exitOK, false
	}
	code = exitTrouble
	if len(args) > 0 && args[0] == "hook" {
		why, code = why+"; the call is blocked", exitDenied
	}
	fmt.Fprintf(talk, "stopgate: %s\n", why)
	return code, true
}

// written remembers that output was lost: help and version are written by code that
// does not look.
type written struct {
	to  io.Writer
	mu  sync.Mutex
	err error
}

// Write implements [io.Writer].
func (w *written) Write(text []byte) (int, error) {
	n, err := w.to.Write(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// terminalOf is the file that output goes to, which may be a terminal.
func terminalOf(out io.Writer) (*os.File, bool) {
	if w, ok := out.(*written); ok {
		out = w.to
	}
	f, ok := out.(*os.File)
	return f, ok
}

// status is a command's exit code: output that nobody could read is no success.
func (w *written) status(s streams, code int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil || code != exitOK {
		return code
	}
	fmt.Fprintf(s.err, "stopgate: write the output: %v\n", w.err)
	return exitTrouble
}

// outlivePipes keeps the process alive where nobody reads its output any more: who writes
// gets an error, and puts away what there is. The signal is caught, and not ignored: programs
// that are started would inherit that, and pipelines in them rely on its end.
func outlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// interruptible ends a command's work at SIGINT, SIGTERM and what else is named, unless who
// started the process has it ignore that, as nohup does. A second signal ends the process at
// once. Commands that hold nothing to put away do without it.
func interruptible(ctx context.Context, also ...os.Signal) (context.Context, context.CancelFunc) {
	also = slices.DeleteFunc(also, signal.Ignored)
	ctx, stop := signal.NotifyContext(ctx, append(also, os.Interrupt, syscall.SIGTERM)...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
