package operate

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/hook/resident"
)

func newHookServe(s cli.Streams) *cobra.Command {
	var idle time.Duration
	var status bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "answer the hooks of this user until it is stopped",
		Long: `serve answers the hooks of this user's coding agents until it is stopped. It keeps
the compiled policy and the open store, so that stopgate-hook need not make them anew
for every call: while serve runs, it asks, and otherwise it decides itself. Nothing
else changes: policy files are read for each call, and every answer is the same.

stopgate-hook believes only the stopgate in its own directory, run by the same user,
that sees the same files (Linux). What it does not believe, or what does not answer in
time, it does without.`,
		Example: `  stopgate hook serve --idle 2h
  stopgate hook serve --status`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().DurationVar(&idle, "idle", resident.DefaultIdle, "end when there was no event for this long; 0 for never")
	cmd.Flags().BoolVar(&status, "status", false, "say whether one answers, and of which version")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if status {
			return cli.Exit(process.Status(hookStreams(s)))
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return resident.Serve(ctx, resident.Options{Idle: idle, Log: s.Err, Fetch: inputs.Fetcher})
	}
	return cmd
}
