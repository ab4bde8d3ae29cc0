package evaluate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/dryrun"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/trial"
	"github.com/stopgate/stopgate/internal/visible"
)

func NewExplain(s cli.Streams) *cobra.Command {
	var f dryrun.Flags
	var short bool
	var recorded recordFlags
	cmd := &cobra.Command{
		Use:   "explain [CODE | RULE | --tool NAME --args JSON]",
		Short: "say rule by rule why a call gets its verdict, or what a code means",
		Long: `explain judges one call like decide and shows every list and rule that had a say:
what matched, what was eliminated, by which value and at which byte. --short says in a
few lines what decided. With --record it explains a call that was recorded, in the
project, directory and home of then.

With the CODE of a diagnostic or the reason code of a verdict it says what that means
and what to do. With a RULE of the policy here, FILE:LINE or an id as the records have
it, it shows the rule.

Exit: as decide; of a CODE or a RULE 0.`,
		Example: `  stopgate explain --policy stopgate.toml --tool fs_modify_file --args '{"path":"src/../.env"}'
  stopgate explain --short --tool Bash --args '{"command":"rm -rf build"}'
  stopgate explain SG0301
  stopgate explain path_not_known
  stopgate explain stopgate.toml:14`,
		Args:              cli.AtMostOne,
		ValidArgsFunction: completeExplained(&f.Files),
	}
	f.Add(cmd)
	recorded.add(cmd)
	cmd.Flags().BoolVar(&short, "short", false, "say what decided and why, in ten lines at most")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if recorded.id != "" {
			if short || len(args) > 0 {
				return cli.Usagef("--record explains one recorded call in full: leave out the rest")
			}
			return recorded.explain(cmd, s, &f, *format)
		}
		if len(args) == 1 && args[0] != "-" && !cmd.Flags().Changed("tool") {
			if inputs.NamesRule(args[0]) {
				return explainRule(s, f.Files, args[0], *format)
			}
			return explainCode(s, args[0], *format)
		}
		if short && *format != "text" {
			return cli.Usagef("--short writes text")
		}
		call, err := f.Decide(cmd, s, args)
		if err != nil {
			return err
		}
		answer, explanation := call.Answer, call.Explain()
		var access *stopgate.Access
		if call.Program != nil {
			access = call.Program.Access(answer.Tool)
		}
		var text string
		if short {
			text = dryrun.ShortText(answer, explanation, call.Objections)
		} else {
			text = dryrun.ExplainText(answer, explanation) + sessionText(call.Program, answer, call.Objections) + externalText(call.Program, answer) + accessText(answer.Tool, access)
		}
		err = format.Print(s.Out, explanationJSON{
			answer, explanation.Recognised, explanation.NotKnown, traceOf(explanation.Trace), explanation.Lists, call.Objections, access,
		}, cli.Coloured(s.Out, text))
		if err != nil {
			return err
		}
		return answer.Status()
	}
	return cmd
}

// explanationJSON is decide's answer and how it came about.
type explanationJSON struct {
	dryrun.Answer
	Recognised string `json:"recognised,omitempty"`
	// NotKnown names the paths of the call whose targets are not known.
	NotKnown string                 `json:"not_known,omitempty"`
	Trace    []traceStep            `json:"trace"`
	Lists    []eval.ListExplanation `json:"lists"`
	// Objections are those of session policies, in a session without a past.
	Objections []trial.Objection `json:"objections,omitempty"`
	// Access limits the files that the tool may touch when it runs.
	Access *stopgate.Access `json:"access,omitempty"`
}

// accessText lists the files that a tool may touch, "" without a limit.
func accessText(tool stopgate.ToolName, a *stopgate.Access) string {
	if a == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\naccess of %s, whatever the rules allow; the program that runs it enforces it\n", visible.Text(string(tool)))
	for _, l := range []struct {
		name  string
		paths []string
	}{{"read", a.Read}, {"write", a.Write}} {
		switch {
		case l.paths == nil:
			fmt.Fprintf(&b, "    %-6s every file\n", l.name)
		case len(l.paths) == 0:
			fmt.Fprintf(&b, "    %-6s no file\n", l.name)
		default:
			fmt.Fprintf(&b, "    %-6s %s\n", l.name, visible.Text(strings.Join(l.paths, ", ")))
		}
	}
	return b.String()
}

// externalText lists the external policies that decide about a call, and the kinds of policy that
// each of them is.
func externalText(p *policy.Program, a dryrun.Answer) string {
	if p == nil || len(a.External) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nexternal policies, which were not asked\n")
	for _, e := range p.Externals() {
		if slices.Contains(a.External, e.Name) {
			fmt.Fprintf(&b, "    %s at %s: %s\n", visible.Text(e.Name), visible.Text(e.URL), strings.Join(e.Hooks, ", "))
		}
	}
	return b.String()
}

// sessionText lists the session policies that govern a call, in a session without a past, and
// their objections.
func sessionText(p *policy.Program, a dryrun.Answer, said []trial.Objection) string {
	if p == nil {
		return "" // no policy was asked
	}
	registry, err := p.Sessions()
	if err != nil {
		return ""
	}
	tool := a.Tool
	if name, ok := p.ToolNames()[tool]; ok {
		tool = name
	}
	governing := registry.PoliciesFor(tool)
	if len(governing) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nsession policies, in a session where nothing has happened yet\n")
	for _, g := range governing {
		i := slices.IndexFunc(said, func(o trial.Objection) bool { return o.Policy == g.Name() })
		if i < 0 && a.Mode.Terminal() && a.Layer != stopgate.LayerSession {
			fmt.Fprintf(&b, "    %s was not asked: the call is refused without it\n", visible.Text(g.Name()))
			continue
		}
		if i < 0 {
			fmt.Fprintf(&b, "    %s does not object\n", visible.Text(g.Name()))
			continue
		}
		fmt.Fprintf(&b, " x  %s objects: %s\n", visible.Text(g.Name()), said[i].Code)
		for _, key := range slices.Sorted(maps.Keys(said[i].Meta)) {
			fmt.Fprintf(&b, "      %s: %s\n", visible.Text(key), visible.Text(visible.Elide(said[i].Meta[key], 200)))
		}
	}
	return b.String()
}

// traceStep is one published verdict.
type traceStep struct {
	At   int64         `json:"at"`
	Mode stopgate.Mode `json:"mode"`
	Code stopgate.Code `json:"code"`
}

func traceOf(trace []stopgate.Verdict) []traceStep {
	steps := []traceStep{}
	for _, v := range trace {
		if v.Decided {
			steps = append(steps, traceStep{At: v.DecidedAt, Mode: v.Mode, Code: v.Code})
		}
	}
	return steps
}
