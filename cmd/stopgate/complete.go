package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
)

// complete tells shells which words the flags of all commands take where these are a
// known list, and that commands without a file among their arguments want no names of
// files.
func complete(root *cobra.Command) {
	lists := flagWords()
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		_, at, _ := strings.Cut(cmd.CommandPath(), " ")
		for flag, words := range lists[at] {
			_ = cmd.RegisterFlagCompletionFunc(flag, oneOf(words))
		}
		if _, args, _ := strings.Cut(cmd.Use, " "); cmd.ValidArgs == nil && cmd.ValidArgsFunction == nil && !takesFiles(args) {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// oneOf completes a word, also the last one of several with commas.
func oneOf(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, text string) (fit []string, _ cobra.ShellCompDirective) {
		at := strings.LastIndexByte(text, ',') + 1
		for _, w := range words {
			if strings.HasPrefix(w, text[at:]) {
				fit = append(fit, text[:at]+w)
			}
		}
		return fit, cobra.ShellCompDirectiveNoFileComp
	}
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

// flagWords are the words of flags, by command and flag.
func flagWords() map[string]map[string][]string {
	level, form := []string{"debug", "info", "warn", "error"}, []string{"text", "json"}
	talk := map[string][]string{"log-level": level, "log-format": form}
	modes := []stopgate.Mode{stopgate.Unattended, stopgate.Ask, stopgate.Edit, stopgate.Skip, stopgate.Deny}
	var names []string
	for _, mode := range modes {
		names = append(names, mode.String())
	}
	events := texts(rowEvents)
	return map[string]map[string][]string{
		"up":  talk,
		"mcp": talk,
		"agent": {
			"api":   {"openai-chat", "openai-responses", "anthropic"},
			"style": {"call", "json"},
		},
		"log":    {"mode": names, "status": texts(rowStatuses), "event": events, "surface": texts(rowSurfaces)},
		"events": {"type": append([]string{"decision", "policy"}, events...)},
		"replay": {"fail-on": {"loosened", "any"}},
	}
}

// texts are words as strings.
func texts[T ~string](words []T) (list []string) {
	for _, w := range words {
		list = append(list, string(w))
	}
	return list
}
