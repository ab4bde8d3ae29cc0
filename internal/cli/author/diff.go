package author

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
	"github.com/stopgate/stopgate/internal/visible"
)

func NewDiff(s cli.Streams) *cobra.Command {
	var failOn, toolsFile string
	var undecided bool
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "show which calls a change of a policy decides in another way",
		Long: `diff compares two policy files by what they decide: for every edit of a rule, a guard or
a list it shows a call whose mode changes, what it was and what it becomes, and which
tools that concerns. A change is loosened or tightened. If there are none and everything
was decided, no edit moves a call.

Compared are plainly written arguments that fit the tools' schemas. Command lines, and values
of a parameter that is declared differently, are not searched: the directions in which an edit
can move such calls are bounded, and shown by calls made of the edit. Of session policies each field that changes is shown, and what that does.

Exit: 0, or 3 with --fail-on if there is such a change, or, without --allow-undecided, if
not everything could be decided; 3 if a file has mistakes.`,
		Example: `  stopgate diff old.toml stopgate.toml
  git show main:stopgate.toml > old.toml && stopgate diff --fail-on loosened old.toml stopgate.toml`,
		ValidArgsFunction: cli.CompleteTOML,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("diff wants two policy files: the old one and the new one")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&failOn, "fail-on", "", "exit 3 on changes of this kind: `loosened` or any")
	inputs.ToolsFlag(cmd, &toolsFile, ": the tools and schemas to compare for")
	cmd.Flags().BoolVar(&undecided, "allow-undecided", false, "with --fail-on, accept what could not be decided")
	cli.CompleteFlag(cmd, "fail-on", "loosened", "any")
	format := cli.FormatFlag(cmd, "sarif", "github", "junit")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if failOn != "" && failOn != "loosened" && failOn != "any" {
			return cli.Usagef("--fail-on is loosened or any, not %q", failOn)
		}
		tools, err := inputs.ReadTools(toolsFile)
		if err != nil {
			return err
		}
		var sources [2]policy.Source
		for i, name := range args {
			text, err := config.ReadFile(name, config.MaxFile)
			if err != nil {
				return inputs.Unread(fmt.Errorf("read policy: %w", err))
			}
			sources[i] = policy.Source{Name: name, Text: text}
		}
		progress := cli.StartProgress(s, "comparing", "tools", 0)
		d, old, new := diff.Files(sources[0], sources[1], policy.Options{Definitions: tools}, progress.Set)
		progress.End()
		set := config.Set{}
		for _, source := range sources {
			set.Files = append(set.Files, config.File{Path: source.Name, Text: source.Text})
		}
		if d == nil {
			return config.MistakesError{List: append(old, new...), Set: set}
		}
		if err := writeDifference(s, *format, d, set); err != nil {
			return err
		}
		if failOn == "any" && len(d.Changes)+len(d.Sessions) > 0 ||
			failOn != "" && (!d.Complete && !undecided || slices.ContainsFunc(d.Changes, loosened) || slices.ContainsFunc(d.Sessions, loosenedSession)) {
			return cli.Exit(cli.ExitMistakes)
		}
		return nil
	}
	return cmd
}

// Compare shows the difference of two policy files as text, and returns why calls may be decided more
// loosely, "" if none are.
func Compare(out io.Writer, before, after policy.Source, tools []stopgate.ToolDefinition) (loose string, err error) {
	d, old, new := diff.Files(before, after, policy.Options{Definitions: tools}, nil)
	if d == nil {
		set := config.Set{Files: []config.File{{Path: before.Name, Text: before.Text}, {Path: after.Name, Text: after.Text}}}
		return "", config.MistakesError{List: append(old, new...), Set: set}
	}
	if _, err := io.WriteString(out, differenceText(d)); err != nil {
		return "", err
	}
	switch {
	case slices.ContainsFunc(d.Changes, loosened) || slices.ContainsFunc(d.Sessions, loosenedSession):
		return "decides calls more loosely", nil
	case !d.Complete:
		return "could not be compared completely", nil
	}
	return "", nil
}

func loosened(c diff.Change) bool { return c.Direction == diff.Loosened }

func loosenedSession(c diff.SessionChange) bool { return c.Direction == diff.Loosened }

// differenceText returns the difference for a reviewer, loosened calls first.
func differenceText(d *diff.Difference) string {
	var b strings.Builder
	changes := slices.Clone(d.Changes)
	slices.SortStableFunc(changes, func(x, y diff.Change) int {
		switch {
		case loosened(x) == loosened(y):
			return 0
		case loosened(x):
			return -1
		}
		return 1
	})
	for _, c := range changes {
		list := ""
		if c.List == "result" {
			list = " (result)"
		}
		fmt.Fprintf(&b, "%s %s%s: %s -> %s\n", c.Direction, visible.Text(toolsText(c.Tools)), list, c.From, c.To)
		if c.Edit >= 0 && (strings.HasPrefix(d.Edits[c.Edit].Name, "lists.") || isParameter(d.Edits[c.Edit])) {
			fmt.Fprintf(&b, "  edit  %s\n", visible.Text(d.Edits[c.Edit].Name))
		}
		fmt.Fprintf(&b, "  call  %s\n", visible.Lines(witnessText(c.Witness)))
		for _, sentence := range c.Supposed {
			fmt.Fprintf(&b, "  if    %s\n", visible.Lines(sentence))
		}
		fmt.Fprintf(&b, "  was   %-10s %s\n", c.From, deciderText(c.Old, c.Note))
		fmt.Fprintf(&b, "  is    %-10s %s\n\n", c.To, deciderText(c.New, c.Note))
	}
	for _, change := range d.Sessions {
		fmt.Fprintln(&b, visible.Text(change.String()))
	}
	for _, open := range d.Open {
		fmt.Fprintf(&b, "not decided: %s\n", visible.Text(open))
	}
	if len(d.Assumed) > 0 {
		fmt.Fprintf(&b, "assumed: %s\n", strings.Join(d.Assumed, ", "))
	}
	fmt.Fprintln(&b, summaryText(d))
	return b.String()
}

// toolsText names tools, not all of many.
func toolsText(tools []stopgate.ToolName) string {
	const most = 4
	names := make([]string, 0, most)
	for _, tool := range tools[:min(most, len(tools))] {
		names = append(names, string(tool))
	}
	text := strings.Join(names, ", ")
	if more := len(tools) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func summaryText(d *diff.Difference) string {
	sessions := ""
	if len(d.Sessions) > 0 {
		sessions = ", session policies differ"
	}
	switch {
	case d.Same && len(d.Changes) == 0 && d.Complete:
		return "the same policy: both decide every call alike"
	case len(d.Changes) == 0 && d.Complete && sessions != "":
		return fmt.Sprintf("session policies differ; the rules decide alike every call that fits the schemas and is plainly written (%s compared)", cli.Count(d.Tools, "tool"))
	case len(d.Changes) == 0 && d.Complete:
		return fmt.Sprintf("equivalent: both decide alike every call that fits the schemas and is plainly written (%s compared)", cli.Count(d.Tools, "tool"))
	}
	loose := 0
	for _, c := range d.Changes {
		if loosened(c) {
			loose++
		}
	}
	text := fmt.Sprintf("%s: %d loosened, %d tightened%s", cli.Count(len(d.Changes), "change"), loose, len(d.Changes)-loose, sessions)
	if d.Complete {
		text += "; there are no others among calls that fit the schemas and are plainly written"
		if names := bounded(d, false); names != "" {
			text += ", but on command lines, which " + names + " may move between other modes too, in the directions shown"
		}
		if names := bounded(d, true); names != "" {
			text += ", but with the parameters of " + names + ": such calls may move between other modes too, in the directions shown"
		}
		return text
	}
	return text + "; there may be others"
}

// bounded names the edits of parameters, or the others, of which the effect is bounded and not
// proved for every two modes.
func bounded(d *diff.Difference, parameters bool) string {
	var names []string
	for _, edit := range d.Edits {
		if edit.Bounded && isParameter(edit) == parameters {
			names = append(names, visible.Text(edit.Name))
		}
	}
	return strings.Join(names, ", ")
}

func isParameter(edit *diff.Edit) bool { return strings.HasPrefix(edit.Name, "parameters.") }

// witnessText is a call as decide takes it.
func witnessText(call stopgate.Call) string {
	text := string(call.Args)
	for _, fact := range []struct{ name, value string }{
		{"agent", string(call.Agent)}, {"surface", string(call.Surface)}, {"server", string(call.Server)}, {"principal", string(call.Principal)}, {"group", strings.Join(call.Groups.Names(), ",")},
	} {
		if fact.value != "" {
			text += fmt.Sprintf("  %s=%s", fact.name, fact.value)
		}
	}
	return text
}

func deciderText(p *diff.RulePlace, note string) string {
	switch {
	case p == nil:
		return note
	case p.Index < 0 && p.Line == 0:
		return visible.Text(p.File) + ": no list for the tool"
	case p.Index < 0:
		return fmt.Sprintf("%s:%d: no rule matched", visible.Text(p.File), p.Line)
	}
	kind := "rule"
	if p.Guard {
		kind = "guard"
	}
	return fmt.Sprintf("%s:%d: %s %d: %s", visible.Text(p.File), p.Line, kind, p.Index+1, visible.Lines(visible.Elide(p.Text, 100)))
}

// differenceJSON is the JSON form of a comparison, which changes only by addition.
func differenceJSON(d *diff.Difference) any {
	type witness struct {
		Args      json.RawMessage `json:"args"`
		Agent     string          `json:"agent,omitempty"`
		Surface   string          `json:"surface,omitempty"`
		Server    string          `json:"server,omitempty"`
		Principal string          `json:"principal,omitempty"`
		Groups    stopgate.Groups `json:"groups,omitzero"`
	}
	type change struct {
		Tool      string              `json:"tool"`
		Tools     []stopgate.ToolName `json:"tools"`
		Edit      string              `json:"edit,omitempty"`
		List      string              `json:"list"`
		From      stopgate.Mode       `json:"from"`
		To        stopgate.Mode       `json:"to"`
		Direction diff.Direction      `json:"direction"`
		Witness   witness             `json:"witness"`
		Supposed  []string            `json:"supposed,omitempty"`
		Old       *diff.RulePlace     `json:"old_rule"`
		New       *diff.RulePlace     `json:"new_rule"`
		Note      string              `json:"note,omitempty"`
	}
	out := struct {
		Changes  []change `json:"changes"`
		Sessions []string `json:"session_policies,omitempty"`
		Bounded  []string `json:"bounded,omitempty"`
		Complete bool     `json:"complete"`
		Open     []string `json:"open,omitempty"`
		Assumed  []string `json:"assumed,omitempty"`
	}{Changes: []change{}, Complete: d.Complete, Open: d.Open, Assumed: d.Assumed}
	for _, c := range d.Sessions {
		out.Sessions = append(out.Sessions, c.String())
	}
	for _, edit := range d.Edits {
		if edit.Bounded {
			out.Bounded = append(out.Bounded, edit.Name)
		}
	}
	for _, c := range d.Changes {
		w, edit := c.Witness, ""
		if c.Edit >= 0 {
			edit = d.Edits[c.Edit].Name
		}
		out.Changes = append(out.Changes, change{
			Tool: string(c.Tool), Tools: c.Tools, Edit: edit, List: c.List, From: c.From, To: c.To, Direction: c.Direction, Old: c.Old, New: c.New, Note: c.Note,
			Witness: witness{json.RawMessage(w.Args), string(w.Agent), string(w.Surface), string(w.Server), string(w.Principal), w.Groups}, Supposed: c.Supposed,
		})
	}
	return out
}
