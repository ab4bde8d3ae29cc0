package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const longHelp = `stopgate decides, from one policy file, whether an AI agent's tool call may run,
and it decides while the call is still being written by the model.`

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "stopgate",
		Short:         "decide whether an AI agent's tool calls may run",
		Long:          longHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return cmd.Help()
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see '%s --help'", err, cmd.CommandPath())
	})
	root.AddCommand(
		newUp(s), newDemo(s),
		newCheck(s), newDecide(s), newExplain(s), newTrust(s),
		&cobra.Command{
			Use: "version", Short: "print the version", Args: noArgs,
			Run: func(*cobra.Command, []string) { printVersion(s.out) },
		},
	)
	return root
}

func unknownCommand(cmd *cobra.Command, name string) error {
	near := cmd.SuggestionsFor(name)
	hint := ""
	if len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
	}
	return usagef("unknown command %q%s (see 'stopgate --help')", name, hint)
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// formats are the values of --format that a command understands.
func formatFlag(cmd *cobra.Command, formats ...string) *string {
	f := cmd.Flags().String("format", "text", "output format: "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return formats, cobra.ShellCompDirectiveNoFileComp
	})
	check := cmd.PreRunE
	cmd.PreRunE = func(c *cobra.Command, args []string) error {
		for _, known := range formats {
			if *f == known {
				if check != nil {
					return check(c, args)
				}
				return nil
			}
		}
		return usagef("unknown format %q: want %s", *f, strings.Join(formats, " or "))
	}
	return f
}
