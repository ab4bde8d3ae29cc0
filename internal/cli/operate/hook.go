package operate

import (
	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/servers"
)

func NewHook(s cli.Streams) *cobra.Command {
	var f process.Flags
	cmd := &cobra.Command{
		Use:       "hook HOST",
		Short:     "answer the hook of a coding agent",
		Long:      process.About + "\n\nHosts: " + diag.OneOf(hook.Names()),
		Example:   "  stopgate hook claude-code < event.json",
		ValidArgs: hook.Names(),
		Args:      cobra.ArbitraryArgs,
	}
	f.Add(cmd.Flags())
	cmd.AddCommand(newHookServe(s))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return cli.Exit(hookProgram().Serve(cmd.Context(), args, &f, hookStreams(s)))
	}
	return cmd
}

// hookProgram answers hooks without the small program's limits.
func hookProgram() process.Program {
	return process.Program{Judges: service.Judges, External: service.External(), Open: servers.Open, Compile: prove.Compile, Fetch: inputs.Fetcher, Notify: func(table *tomltree.Value) ([]approve.Notifier, error) {
		list, err := tables.NotifiersOf(table)
		if err == nil {
			cli.OutlivePipes() // the command of notify would inherit an ignored signal
		}
		return list, err
	}}
}

func hookStreams(s cli.Streams) process.Streams {
	return process.Streams{In: s.In, Out: s.Out, Err: s.Err}
}

// RunHook is hook without the tree of commands: it is one process per call, and sets up only the
// parts that the call needs. It reports false for help and serve.
func RunHook(args []string, s cli.Streams) (code int, ok bool) {
	if len(args) > 0 && args[0] == "serve" {
		return 0, false
	}
	return hookProgram().Main(args, hookStreams(s))
}
