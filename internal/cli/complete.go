package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Complete keeps shells from completing file names for commands that take no files.
func Complete(root *cobra.Command) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if _, args, _ := strings.Cut(cmd.Use, " "); cmd.ValidArgs == nil && cmd.ValidArgsFunction == nil && !takesFiles(args) {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// CompleteFlag completes the words of a flag, also the last one of several with commas.
func CompleteFlag(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, text string) (fit []string, _ cobra.ShellCompDirective) {
		at := strings.LastIndexByte(text, ',') + 1
		for _, w := range words {
			if strings.HasPrefix(w, text[at:]) {
				fit = append(fit, text[:at]+w)
			}
		}
		return fit, cobra.ShellCompDirectiveNoFileComp
	})
}

// takesFiles reports whether the arguments of a command, as its usage has them, may name
// a file.
func takesFiles(args string) bool {
	for _, word := range []string{"FILE", "DIR", "LOG", "COMMAND [ARGS"} {
		if strings.Contains(args, word) {
			return true
		}
	}
	return false
}

// Words converts words to strings.
func Words[T ~string](words []T) (list []string) {
	for _, w := range words {
		list = append(list, string(w))
	}
	return list
}

// CompleteTOML completes the names of policy files.
func CompleteTOML(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
}
