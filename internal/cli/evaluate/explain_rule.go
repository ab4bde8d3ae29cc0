package evaluate

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/visible"
)

// rulesJSON is the explanation of the name of a rule; it changes only by addition.
type rulesJSON struct {
	Rules []inputs.Rule `json:"rules"`
}

// explainRule shows the rules of the policy here that a word names.
func explainRule(s cli.Streams, files []string, word string, format cli.Format) error {
	rules, err := inputs.RulesNamed(files, word)
	if err != nil {
		return err
	}
	var b strings.Builder
	for i, r := range rules {
		if i > 0 {
			b.WriteByte('\n')
		}
		of := "guard for every tool"
		switch {
		case r.Result:
			of = "rule for results of " + visible.Text(r.Tool)
		case r.Tool != "":
			of = "rule for " + visible.Text(r.Tool)
		}
		fmt.Fprintf(&b, "%s  %s\n", visible.Text(r.Where()), of)
		for line := range strings.Lines(r.Text) {
			fmt.Fprintf(&b, "    %s\n", visible.Text(strings.TrimRight(line, "\r\n")))
		}
		fmt.Fprintf(&b, "its decisions: stopgate log --rule %s\n", r.ID)
	}
	return format.Print(s.Out, rulesJSON{rules}, b.String())
}

// completeExplained completes codes, and the ids of rules once they are begun: there are many.
func completeExplained(files *[]string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	rules := cli.LookUp(func(context.Context, *cobra.Command) []string { return inputs.CompletedRules(*files) })
	return func(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 && inputs.BeginsID(text) {
			return rules(cmd, args, text)
		}
		return completeCodes(cmd, args, text)
	}
}
