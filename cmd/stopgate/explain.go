package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/policy"
)

func newExplain(s streams) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "explain --tool NAME --args JSON",
		Short: "say rule by rule why a call gets its verdict",
		Long: `explain judges one call like decide and shows every list and rule that had a say:
what matched, what was eliminated, by which value and at which byte.

Exit: as decide.`,
		Example: `  stopgate explain --policy stopgate.toml --tool fs_modify_file --args '{"path":"src/../.env"}'`,
		Args:    cobra.MaximumNArgs(1),
	}
	f.add(cmd)
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		call, err := f.call(nil)
		if err != nil {
			return err
		}
		text, err := f.arguments(cmd, args, s.in)
		if err != nil {
			return err
		}
		l, err := f.load(s.err)
		if err != nil {
			return err
		}
		call.Definition = definitionOf(l.tools, call.Tool)
		evaluation := l.program.Bind(call).Evaluate()
		evaluation.Feed(text)
		verdict := evaluation.Close(stopgate.Ended)
		explanation := evaluation.Explain()
		if *format == "json" {
			err = writeJSON(s.out, explanationJSON{newAnswer(call, verdict, len(text)), evaluationTrace(evaluation), explanation.Lists})
		} else {
			_, err = fmt.Fprint(s.out, explainText(call, verdict, len(text), explanation))
		}
		if err != nil {
			return err
		}
		return verdictStatus(verdict)
	}
	return cmd
}

// explanationJSON is decide's answer and how it came about.
type explanationJSON struct {
	answer
	Trace []traceStep              `json:"trace"`
	Lists []policy.ListExplanation `json:"lists"`
}

// traceStep is one published verdict.
type traceStep struct {
	At   int64         `json:"at"`
	Mode stopgate.Mode `json:"mode"`
	Code stopgate.Code `json:"code"`
}

func evaluationTrace(e *policy.Evaluation) []traceStep {
	steps := []traceStep{}
	for _, v := range e.Trace() {
		if v.Decided {
			steps = append(steps, traceStep{At: v.DecidedAt, Mode: v.Mode, Code: v.Code})
		}
	}
	return steps
}

func explainText(call stopgate.Call, v stopgate.Verdict, size int, x policy.Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", visible(string(call.Tool)), newAnswer(call, v, size).text())
	for _, floor := range v.Floors {
		fmt.Fprintf(&b, "  floor     %s %s at byte %d%s\n", floor.Mode, floor.Code, floor.At, at(floor.Pointer))
	}
	for _, list := range x.Lists {
		b.WriteByte('\n')
		explainList(&b, list)
	}
	return b.String()
}

func explainList(b *strings.Builder, list policy.ListExplanation) {
	verdict := "says nothing"
	if list.Decided {
		verdict = "says " + list.Mode.String()
	}
	name := string(list.Layer)
	if list.Table != "" {
		name = fmt.Sprintf("[tools.%s]", tomlKey(list.Table))
	}
	fmt.Fprintf(b, "%s of %s %s\n", name, list.File, verdict)
	for _, rule := range list.Rules {
		mark := map[string]string{"matched": "=>", "eliminated": " x", "skipped": " -", "waiting": " ?"}[rule.Status]
		if mark == "" {
			mark = "  "
		}
		fmt.Fprintf(b, "%s %3d  line %-4d %-10s %s", mark, rule.Ref.Index+1, rule.Ref.Line, rule.Mode, rule.Status)
		switch {
		case rule.Skipped != "":
			fmt.Fprintf(b, ": %s", rule.Skipped)
		case rule.Status == "matched" || rule.Status == "eliminated":
			fmt.Fprintf(b, " at byte %d", rule.At)
		}
		b.WriteByte('\n')
		for _, c := range rule.Conditions {
			fmt.Fprintf(b, "            %s %s: %s", visible(c.Arg), visible(c.Matcher), c.Status)
			if c.Status != "waiting" {
				fmt.Fprintf(b, " at byte %d%s", c.At, at(c.Pointer))
			}
			b.WriteByte('\n')
			if len(c.Readings) > 0 {
				fmt.Fprintf(b, "              read as %s\n", visible(elide(strings.Join(c.Readings, ", "), 200)))
			}
		}
	}
}

func at(pointer string) string {
	if pointer == "" {
		return ""
	}
	return ", " + visible(pointer)
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
