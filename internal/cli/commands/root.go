// Package commands is the table of the commands of the program stopgate: their groups, their order
// and how help shows them.
package commands

import (
	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/agent"
	"github.com/stopgate/stopgate/internal/cli/author"
	"github.com/stopgate/stopgate/internal/cli/begin"
	"github.com/stopgate/stopgate/internal/cli/demo"
	"github.com/stopgate/stopgate/internal/cli/evaluate"
	"github.com/stopgate/stopgate/internal/cli/fleet"
	"github.com/stopgate/stopgate/internal/cli/hosts"
	"github.com/stopgate/stopgate/internal/cli/inspect"
	"github.com/stopgate/stopgate/internal/cli/learning"
	"github.com/stopgate/stopgate/internal/cli/operate"
)

const longHelp = `stopgate decides, from one policy file, whether an AI agent's tool call may run,
and it decides while the call is still being written by the model.`

// New returns the program's command, with all others below it.
func New(s cli.Streams) *cobra.Command {
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
	root.SetFlagErrorFunc(cli.FlagError)
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = id
		}
		root.AddCommand(commands...)
	}
	group("start", "Start here:", begin.NewStart(s), begin.NewStop(s), demo.New(s), author.NewInit(s), author.NewImport(s))
	mcp := operate.NewMCP(s)
	mcp.AddCommand(operate.NewPin(s))
	group("gates", "Put the gate somewhere:", operate.NewUp(s), operate.NewServe(s), operate.NewConnect(s), mcp, agent.New(s), hosts.NewInstall(s), hosts.NewUninstall(s), hosts.NewDoctor(s), operate.NewHook(s))
	group("policies", "Write policies:",
		author.NewCheck(s), evaluate.NewTest(s), evaluate.NewDecide(s), evaluate.NewExplain(s), author.NewDiff(s), author.NewFmt(s), author.NewTrust(s), inspect.NewReplay(s), author.NewPacks(s), author.NewSchema(s))
	group("fleet", "Bring policies to a fleet:", fleet.New(s))
	group("people", "Answer calls, and stop them:", operate.NewApprovals(s), operate.NewGrants(s), operate.NewLockdown(s))
	group("records", "Look at what happened:", inspect.NewLog(s), inspect.NewEvents(s), inspect.NewReport(s), learning.NewLearn(s), operate.NewSessions(s), inspect.NewHealth(s))
	root.AddCommand(inspect.NewVersion(s))
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
	cli.FitHelp(root)
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
