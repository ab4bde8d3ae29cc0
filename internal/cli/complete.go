package cli

import (
	"context"
	"slices"
	"strings"
	"time"

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

// completionLimit is how long a shell waits for words that are looked up.
const completionLimit = 150 * time.Millisecond

// LookUp completes words that find returns, such as the ids in a store; a tab is before the description
// of a word. It never fails: an error, a panic and a find that takes too long give no words.
func LookUp(find func(ctx context.Context, cmd *cobra.Command) []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, given []string, text string) (fit []string, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completionLimit)
		defer cancel()
		found := make(chan []string, 1)
		go func() {
			defer func() {
				if recover() != nil {
					found <- nil
				}
			}()
			found <- find(ctx, cmd)
		}()
		select {
		case words := <-found:
			for _, w := range words {
				word, _, _ := strings.Cut(w, "\t")
				if strings.HasPrefix(w, text) && !slices.Contains(given, word) {
					fit = append(fit, w)
				}
			}
		case <-ctx.Done():
		}
		return fit, cobra.ShellCompDirectiveNoFileComp
	}
}

// LookUpFlag completes the value of a flag as LookUp does.
func LookUpFlag(cmd *cobra.Command, flag string, find func(ctx context.Context, cmd *cobra.Command) []string) {
	complete := LookUp(find)
	_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
		return complete(cmd, nil, text)
	})
}
