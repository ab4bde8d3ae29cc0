package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/visible"
)

func newExplain(s streams) *cobra.Command {
	var f callFlags
	var short bool
	var recorded recordFlags
	cmd := &cobra.Command{
		Use:   "explain [CODE | --tool NAME --args JSON]",
		Short: "say rule by rule why a call gets its verdict, or what a code means",
		Long: `explain judges one call like decide and shows every list and rule that had a say:
what matched, what was eliminated, by which value and at which byte. --short says in a
few lines what decided. With --record it explains a call that was recorded, in the
project, directory and home of then.

With the CODE of a diagnostic or the reason code of a verdict it says what that means
and what to do.

Exit: as decide; of a CODE 0.`,
		Example: `  stopgate explain --policy stopgate.toml --tool fs_modify_file --args '{"path":"src/../.env"}'
  stopgate explain --short --tool Bash --args '{"command":"rm -rf build"}'
  stopgate explain SG0301
  stopgate explain path_not_known`,
		Args:              atMostOne,
		ValidArgsFunction: completeCodes,
	}
	f.add(cmd)
	recorded.add(cmd)
	cmd.Flags().BoolVar(&short, "short", false, "say what decided and why, in ten lines at most")
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if recorded.id != "" {
			if short || len(args) > 0 {
				return usagef("--record explains one recorded call in full: leave out the rest")
			}
			return recorded.explain(cmd, s, &f, *format)
		}
		if len(args) == 1 && args[0] != "-" && !cmd.Flags().Changed("tool") {
			return explainCode(s, args[0], *format)
		}
		if short && *format != "text" {
			return usagef("--short writes text")
		}
		call, err := f.judge(cmd, s, args)
		if err != nil {
			return err
		}
		answer, explanation := call.answer, call.explain()
		if *format == "json" {
			err = writeJSON(s.out, explanationJSON{
				answer, explanation.Recognised, explanation.NotKnown, traceOf(explanation.Trace), explanation.Lists, call.objections,
			})
		} else if short {
			_, err = io.WriteString(s.out, coloured(s.out, shortText(answer, explanation, call.objections)))
		} else {
			_, err = io.WriteString(s.out, coloured(s.out, explainText(answer, explanation)+sessionText(call.program, answer, call.objections)))
		}
		if err != nil {
			return err
		}
		return answer.status()
	}
	return cmd
}

// explanationJSON is decide's answer and how it came about.
type explanationJSON struct {
	answer
	Recognised string `json:"recognised,omitempty"`
	// NotKnown says of which paths of the call it is not known what they name.
	NotKnown string                 `json:"not_known,omitempty"`
	Trace    []traceStep            `json:"trace"`
	Lists    []eval.ListExplanation `json:"lists"`
	// Objections are those of session policies, in a session where nothing has happened
	// yet.
	Objections []objection `json:"objections,omitempty"`
}

// sessionText is what the session policies say of a call in a session where nothing has
// happened yet.
func sessionText(p *policy.Program, a answer, said []objection) string {
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
		i := slices.IndexFunc(said, func(o objection) bool { return o.Policy == g.Name() })
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

// asWritten ends the reading of a path that means what it says.
const asWritten = " (as written)"

// explained adds what a rule's place does not tell: how a guard read the value, and that
// the permission of a file that nobody trusts did not count.
func (a answer) explained(x eval.Explanation) answer {
	for _, list := range x.Lists {
		for _, rule := range list.Rules {
			if rule.Lowered && rule.Status == eval.Matched && a.Mode == stopgate.Ask {
				a.Untrusted = list.File
			}
			for _, c := range rule.Conditions {
				if rule.Named && len(c.Readings) > 0 && !strings.HasSuffix(c.Readings[0], asWritten) && a.Reading == "" {
					a.Reading = c.Readings[0]
				}
			}
		}
	}
	return a
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

func explainText(a answer, x eval.Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", visible.Text(string(a.Tool)), a.because(x.Cause).text())
	if x.Recognised != "" {
		fmt.Fprintf(&b, "  known as  %s\n", x.Recognised)
	}
	for _, floor := range a.Floors {
		fmt.Fprintf(&b, "  floor     %s %s at byte %d%s\n", floor.Mode, floor.Code, floor.At, at(floor.Pointer))
	}
	if x.NotKnown != "" && a.Code != stopgate.CodePathNotKnown {
		fmt.Fprintf(&b, "  not known %s\n", x.NotKnown)
	}
	for _, list := range x.Lists {
		b.WriteByte('\n')
		explainList(&b, list)
	}
	return b.String()
}

func explainList(b *strings.Builder, list eval.ListExplanation) {
	name, says := string(list.Layer), "says nothing"
	if list.Table != "" {
		name = fmt.Sprintf("[tools.%s]", tomlKey(list.Table))
	}
	if list.Decided {
		says = "says " + list.Mode.String()
	}
	if list.Lowered {
		says += ` (the file is not trusted: "unattended" counts as "ask")`
	}
	if list.Named {
		says += ", which counts"
	}
	fmt.Fprintf(b, "%s of %s %s\n", name, visible.Text(list.File), says)
	if list.Uncovered != "" {
		fmt.Fprintf(b, "  %s\n", uncoveredText(list.Uncovered))
	}
	if g := list.Segment; g != nil {
		fmt.Fprintf(b, "  for command %s\n", visible.Part(g.Index, g.Of, g.Text))
	}
	for _, rule := range list.Rules {
		explainRule(b, rule)
	}
}

// uncoveredText says what a permit does not cover, and what to write.
func uncoveredText(pointer string) string {
	return fmt.Sprintf("its permit does not look at %s, and no table declares it: parameters.%s = { type = \"path\" }, or what it is, a rule for it, or ignores",
		visible.Text(pointer), visible.Text(firstName(pointer)))
}

// firstName is the parameter that a pointer begins with.
func firstName(pointer string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return tomlKey(name)
}

// marks show at a glance what became of a rule.
var marks = map[string]string{
	eval.Matched: "=>", eval.Eliminated: " x", eval.Waiting: " ?", eval.NotReached: "  ", eval.Skipped: " -",
}

func explainRule(b *strings.Builder, rule eval.RuleExplanation) {
	fmt.Fprintf(b, "%s %3d  line %-4d %-10s %s", marks[rule.Status], rule.Ref.Index+1, rule.Ref.Line, rule.Mode, rule.Status)
	switch rule.Status {
	case eval.Skipped:
		fmt.Fprintf(b, ": %s\n", visible.Text(rule.Skipped))
		return
	case eval.NotReached:
		b.WriteByte('\n')
		return
	case eval.Matched, eval.Eliminated:
		fmt.Fprintf(b, " at byte %d", rule.At)
	}
	b.WriteByte('\n')
	if rule.Lowered && rule.Status == eval.Matched {
		b.WriteString("            says unattended, which counts as ask: the file is not trusted\n")
	}
	for _, c := range rule.Conditions {
		target := c.Arg
		if c.On != "" {
			target = "any " + c.On
		}
		fmt.Fprintf(b, "            %s %s %s: %s", visible.Text(target), c.Matcher, visible.Lines(visible.Elide(c.Literal, 60)), c.Status)
		if c.Status != eval.Waiting {
			fmt.Fprintf(b, " at byte %d%s", c.At, at(c.Pointer))
		}
		b.WriteByte('\n')
		for _, reading := range c.Readings {
			fmt.Fprintf(b, "              read as %s\n", visible.Text(visible.Elide(reading, 200)))
		}
		if c.Undeclared {
			fmt.Fprintf(b, "              no parameter table declares %s; it may be a %s, and counts as one\n", visible.Text(c.Pointer), c.On)
		}
		if c.Uncertain != "" {
			fmt.Fprintf(b, "              uncertain: %s\n", visible.Text(visible.Elide(c.Uncertain, 300)))
		}
	}
}

func at(pointer string) string {
	if pointer == "" {
		return ""
	}
	return ", " + visible.Text(pointer)
}

// tomlKey quotes a table name where TOML wants it.
func tomlKey(name string) string {
	for _, r := range name {
		if !(r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return `"` + name + `"`
		}
	}
	return name
}
