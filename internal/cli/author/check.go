package author

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/system/secret"
	"github.com/stopgate/stopgate/internal/visible"
	models "github.com/stopgate/stopgate/judge"
)

func NewCheck(s cli.Streams) *cobra.Command {
	var strict, reach, sources, known bool
	var toolsFile string
	cmd := &cobra.Command{
		Use:        "check [FILE...]",
		SuggestFor: []string{"lint", "validate"},
		Short:      "proofread policy files",
		Long: `check finds every mistake of a policy in one run: wrong types, unknown arguments,
rules that can never fire, permissive traps. Each diagnostic has a position, a
stable code and a hint.

Exit: 0 clean or warnings only, 3 mistakes.`,
		Example: `  stopgate check stopgate.toml
  stopgate check --known-tools
  stopgate check --strict --tools tools.json --format sarif stopgate.toml > stopgate.sarif`,
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "treat warnings about traps as mistakes")
	cmd.Flags().BoolVar(&reach, "reach", false, "show for every rule a call that reaches it and what answers that call more strictly, or what covers the rule")
	cmd.Flags().BoolVar(&sources, "sources", false, "show for every source its texts, the sources that it leans on and its risks")
	inputs.ToolsFlag(cmd, &toolsFile, ", to check rules against their schemas")
	cmd.Flags().BoolVar(&known, "known-tools", false, "print the table of tools whose parameters are known by name, as text or json, and check nothing")
	format := cli.FormatFlag(cmd, "sarif", "github", "junit")
	cmd.ValidArgsFunction = cli.CompleteTOML
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if known {
			if len(args) > 0 || *format != "text" && *format != "json" {
				return cli.Usagef("--known-tools takes no files, and writes text or json")
			}
			return writeKnownTools(s.Out, *format)
		}
		if len(args) == 0 {
			args = []string{config.FileName}
		}
		tools, err := inputs.ReadTools(toolsFile)
		if err != nil {
			return err
		}
		set, err := config.Discover(config.Where{Policy: args})
		if err != nil {
			return inputs.Unread(err)
		}
		if (reach || sources) && *format != "text" {
			return cli.Usagef("--reach and --sources write text")
		}
		var all diag.List
		progress := cli.StartProgress(s, "checking", "files", len(set.Files))
		defer progress.End()
		for _, file := range set.Files {
			parsed, found := parser.Parse(kinds.Table(), file.Path, file.Text)
			if parsed != nil {
				found = append(found, prove.Check(parsed, policy.Options{Strict: strict, Definitions: tools})...)
				found = append(append(found, tables.Check(parsed)...), checkJudge(parsed)...)
				if *format == "text" {
					writeExternals(cli.Fitting(s.Err), parsed)
				}
				if sources {
					writeSources(cli.Fitting(s.Out), file.Path, parsed)
				}
				if reach {
					writeReached(cli.Fitting(s.Out), file.Path, prove.Reach(parsed, policy.Options{Definitions: tools}))
				}
			}
			all = append(all, found...)
		}
		progress.End()
		all.Sort()
		if err := writeFindings(s, *format, all, set); err != nil {
			return err
		}
		if all.HasErrors() {
			return cli.Exit(cli.ExitMistakes)
		}
		return nil
	}
	return cmd
}

// writeExternals names the external policies of a file: their answers are not part of it.
func writeExternals(out io.Writer, p *syntax.File) {
	for _, e := range p.Externals {
		fmt.Fprintf(out, "%s:%d: the external policy %s decides too: %s, of %s\n",
			visible.Text(e.File), e.Pos.Start.Line, visible.Text(e.Name), strings.Join(e.Hooks, ", "), visible.Text(strings.Join(e.Tools, ", ")))
	}
}

// writeReached shows how every rule is reached.
func writeReached(out io.Writer, file string, list []prove.Reached) {
	for _, r := range list {
		says := "is not decided"
		switch {
		case r.Answer == regular.No && len(r.By) == 0:
			says = "is reached by nothing: its conditions never hold"
		case r.Answer == regular.No:
			says = "is reached by nothing: covered by " + ruleList(r.By)
		case r.Answer == regular.Yes && r.Verdict.Decided && r.Verdict.Mode != r.Mode:
			says = "matches " + visible.Lines(witnessText(r.Witness)) + ", but " + stricter(r.Verdict)
		case r.Answer == regular.Yes && r.Witness.Args != nil:
			says = "is reached by " + visible.Lines(witnessText(r.Witness))
		case r.Answer == regular.Yes:
			says = "can be reached"
		}
		tool := r.Tool
		if tool == "" {
			tool = "tools that only this file describes"
		}
		fmt.Fprintf(out, "%s:%d: %s %s rule %d (%s) %s\n", visible.Text(file), r.Line, visible.Text(tool), r.List, r.Index+1, r.Mode, says)
	}
}

// stricter describes the verdict that is stricter than the rule that matches.
func stricter(v stopgate.Verdict) string {
	by := string(v.Code)
	if v.Rule != nil && v.Layer == stopgate.LayerGuard {
		by = fmt.Sprintf("guard %d, line %d", v.Rule.Index+1, v.Rule.Line)
	}
	return fmt.Sprintf("the answer is %s (%s): %s", v.Mode, by, visible.Text(v.Public))
}

// ruleList names rules by their numbers.
func ruleList(indexes []int) string {
	names := make([]string, len(indexes))
	for i, n := range indexes {
		names[i] = fmt.Sprintf("rule %d", n+1)
	}
	return strings.Join(names, ", ")
}

func checkSummary(s cli.Streams, all diag.List, files int) error {
	mistakes, warnings, notes := 0, 0, 0
	for _, d := range all {
		switch d.Severity {
		case diag.Error:
			mistakes++
		case diag.Warning:
			warnings++
		default:
			notes++
		}
	}
	_, err := fmt.Fprintf(s.Err, "%s: %s, %s, %s\n",
		cli.Count(files, "file"), cli.Count(mistakes, "mistake"), cli.Count(warnings, "warning"), cli.Count(notes, "note"))
	return err
}

// checkJudge finds mistakes in the table [judge]. Its key is not checked: only the machine that
// runs the judge has it.
func checkJudge(p *syntax.File) (found diag.List) {
	if p.Judge == nil {
		return nil
	}
	o := secret.Anywhere()
	if _, err := models.New(models.Options{Getenv: o.Getenv, Read: o.Read}).Judge(policy.JudgeTable(p.Judge)); err != nil {
		_, message, _ := strings.Cut(err.Error(), "[judge] ")
		found.Add(diag.Diagnostic{Code: diag.BadValue, File: p.Judge.File, Range: p.Judge.Pos, Message: message})
	}
	return found
}
