package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stopgate/stopgate/internal/lang/diag"
)

// Group is a command that has others. Without a word after it, it lists, as one of them.
func Group(use, short string, list *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Long: "Without a command, " + use + " lists, as '" + use + " list' does.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return UnknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list)
	return cmd
}

func FlagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

func UnknownCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, name) {
			return Usagef("unknown command %q; the command is %s (see '%s --help')", name, c.CommandPath(), c.CommandPath())
		}
	}
	if near := diag.Suggest(name, names); near != "" {
		return Usagef("unknown command %q; did you mean %s? (see '%s --help')", name, near, cmd.CommandPath())
	}
	return Usagef("unknown command %q (see '%s --help')", name, cmd.CommandPath())
}

func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

func AtMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return Usagef("%s takes one argument at most, got %q too", cmd.CommandPath(), args[1])
	}
	return nil
}

// FormatFlag adds --format with the forms that a command understands.
func FormatFlag(cmd *cobra.Command, formats ...string) *string {
	f := cmd.Flags().String("format", "text", "output format: "+strings.Join(formats, ", "))
	CompleteFlag(cmd, "format", formats...)
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
		return Usagef("unknown format %q: want %s", *f, diag.OneOf(formats))
	}
	return f
}
