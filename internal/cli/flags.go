package cli

import (
	"errors"
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

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// FlagError explains a flag that cobra refused.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		if near := diag.Suggest(unknown.GetSpecifiedName(), flagNames(cmd)); near != "" {
			return Usagef("%w; did you mean --%s? (see '%s --help')", err, near, cmd.CommandPath())
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && slices.Contains([]string{"int", "int64", "float64"}, invalid.GetFlag().Value.Type()) {
		return Usagef("--%s wants a number, not %q (see '%s --help')", invalid.GetFlag().Name, invalid.GetValue(), cmd.CommandPath())
	}
	if invalid != nil && invalid.GetFlag().Value.Type() == "duration" {
		return Usagef("--%s wants a time with its unit, such as 500ms, 10s or 5m, not %q (see '%s --help')", invalid.GetFlag().Name, invalid.GetValue(), cmd.CommandPath())
	}
	return Usagef("%w (see '%s --help')", err, cmd.CommandPath())
}

// UnknownCommand returns the error of a word that is no command, with the command that is meant.
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

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// AtMostOne refuses more than one argument.
func AtMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return Usagef("%s takes one argument at most, got %q too", cmd.CommandPath(), args[1])
	}
	return nil
}

// FormatFlag adds --format: text, json and the further formats of a command.
func FormatFlag(cmd *cobra.Command, further ...string) *Format {
	formats := append([]string{"text", "json"}, further...)
	f := new(Format)
	cmd.Flags().StringVar((*string)(f), "format", "text", "output format: "+strings.Join(formats, ", "))
	CompleteFlag(cmd, "format", formats...)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if slices.Contains(formats, string(*f)) {
			return nil
		}
		return Usagef("unknown format %q: want %s", *f, diag.OneOf(formats))
	}
	return f
}
