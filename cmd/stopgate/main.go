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
//	stopgate explain ...     show the decision rule by rule
//
// The commands are in internal/cli; internal/cli/commands lists them.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
	"github.com/stopgate/stopgate/internal/cli/operate"
	"github.com/stopgate/stopgate/internal/release"
)

func main() {
	os.Exit(run(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

func run(args []string, s cli.Streams) int {
	if code, no := unsupported(runtime.GOOS, args, s.Err); no {
		return code
	}
	// version answers before anything else is set up.
	if len(args) == 1 && (args[0] == "version" || args[0] == "--version") {
		out := &cli.Output{To: s.Out}
		fmt.Fprintln(out, release.Line("stopgate"))
		return out.Status(s, cli.ExitOK)
	}
	// A hook is started once for every call.
	if len(args) > 0 && args[0] == "hook" {
		if code, ok := operate.RunHook(args[1:], s); ok {
			return code
		}
	}
	out := &cli.Output{To: s.Out}
	root := commands.New(cli.Streams{In: s.In, Out: out, Err: s.Err})
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(cli.AnnounceUpgrades(context.Background(), s))
	return out.Status(s, cli.Report(cli.Streams{In: s.In, Out: out, Err: s.Err}, cmd, err))
}

// unsupported reports an unsupported system before any command runs. A hook then exits with
// the status that denies, because an agent would run the call after any other.
func unsupported(system string, args []string, talk io.Writer) (code int, no bool) {
	why := release.Unsupported(system)
	if why == "" {
		return cli.ExitOK, false
	}
	code = cli.ExitTrouble
	if len(args) > 0 && args[0] == "hook" {
		why, code = why+"; the call is blocked", cli.ExitDenied
	}
	fmt.Fprintf(talk, "stopgate: %s\n", why)
	return code, true
}
