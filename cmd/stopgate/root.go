package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/lang/diag"
)

const longHelp = `stopgate decides, from one policy file, whether an AI agent's tool call may run,
and it decides while the call is still being written by the model.`

func newRoot(s cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "stopgate",
		Short:         "decide whether an AI agent's tool calls may run",
		Long:          longHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UnknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return cmd.Help()
		},
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
			if near := diag.Suggest(unknown.GetSpecifiedName(), cli.FlagNames(cmd)); near != "" {
				return cli.Usagef("%w; did you mean --%s? (see '%s --help')", err, near, cmd.CommandPath())
			}
		}
		var invalid *pflag.InvalidValueError
		if errors.As(err, &invalid) && slices.Contains([]string{"int", "int64", "float64"}, invalid.GetFlag().Value.Type()) {
			return cli.Usagef("--%s wants a number, not %q (see '%s --help')", invalid.GetFlag().Name, invalid.GetValue(), cmd.CommandPath())
		}
		if invalid != nil && invalid.GetFlag().Value.Type() == "duration" {
			return cli.Usagef("--%s wants a time with its unit, such as 500ms, 10s or 5m, not %q (see '%s --help')", invalid.GetFlag().Name, invalid.GetValue(), cmd.CommandPath())
		}
		return cli.Usagef("%w (see '%s --help')", err, cmd.CommandPath())
	})
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = id
		}
		root.AddCommand(commands...)
	}
	group("start", "Start here:", newDemo(s), newInit(s), newImport(s))
	group("gates", "Put the gate somewhere:", newUp(s), newMCP(s), newAgent(s), newInstall(s), newUninstall(s), newDoctor(s), newHook(s))
	group("policies", "Write policies:",
		newCheck(s), newTest(s), newDecide(s), newExplain(s), newDiff(s), newFmt(s), newTrust(s), newReplay(s), newSchema(s))
	group("people", "Answer calls, and stop them:", newApprovals(s), newGrants(s), newLockdown(s))
	group("records", "Look at what happened:", newLog(s), newEvents(s), newReport(s), newSessions(s), newHealth(s))
	root.AddCommand(newVersion(s))
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultCompletionCmd("completion")
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Short = "write the completion script of a shell"
		completion.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("no completion for the shell %q (see 'stopgate completion --help')", args[0])
			}
			return nil
		}
		completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	cli.Complete(root)
	return root
}

func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "say how a command is used",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if of, _, err := root.Find(args); err == nil {
				for _, c := range of.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, c.Name()+"\t"+c.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 && cmd == root {
				return cli.UnknownCommand(root, args[0])
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}
