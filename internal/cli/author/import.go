package author

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/host/imports"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
	"github.com/stopgate/stopgate/internal/visible"
)

// importSource is the rules of an agent that can be imported.
type importSource struct{ hook.Rules }

func importSources() (list []importSource) {
	for _, h := range hook.All() {
		if h.Rules.Source != "" {
			list = append(list, importSource{h.Rules})
		}
	}
	// JP runs no hooks. Its gate is the gateway.
	return append(list, importSource{hook.Rules{Source: "jp", Files: []string{"~/.config/jp/config.toml", ".jp/config.toml", ".jp.toml"}}})
}

func importNames() (names []string) {
	for _, s := range importSources() {
		names = append(names, s.Source)
	}
	return names
}

func NewImport(s cli.Streams) *cobra.Command {
	var output, mode string
	cmd := &cobra.Command{
		Use:   "import SOURCE [FILE...]",
		Short: "make a policy of the permission rules of a coding agent",
		Long: `import reads the permission rules that you have written for a coding agent and
writes a policy that is nowhere more lenient. Above each rule stands the rule that it
comes from. What cannot be said exactly is said more strictly, and reported.

Without FILE it reads what the agent would read in the working directory.

Sources: ` + diag.OneOf(importNames()),
		Example:   "  stopgate import claude-settings -o stopgate.toml\n  stopgate import codex-rules ~/.codex/rules/default.rules",
		ValidArgs: importNames(),
		Args:      cobra.ArbitraryArgs,
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the policy to a new `FILE` (default: standard output)")
	format := cli.FormatFlag(cmd)
	cmd.Flags().Lookup("format").Usage = "`FORMAT` of the report on standard error: text; or json: report and policy on standard output"
	cmd.Flags().StringVar(&mode, "mode", "default", "`MODE` of Gemini CLI whose rules are meant")
	_ = cmd.MarkFlagFilename("output", "toml")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cli.Usagef("want the source of the rules: %s", diag.OneOf(importNames()))
		}
		i := slices.IndexFunc(importSources(), func(s importSource) bool { return s.Source == args[0] })
		if i < 0 {
			return cli.Usagef("no rules are called %q; there are: %s", args[0], diag.OneOf(importNames()))
		}
		return importRules(s, importSources()[i], args[1:], mode, output, *format)
	}
	return cmd
}

func importRules(s cli.Streams, source importSource, names []string, mode, output string, format cli.Format) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	files, err := source.files(names, root)
	if err != nil {
		return err
	}
	result, err := imports.Read(source.Source, files, draft.Options{Root: root, Mode: mode, Extend: extend})
	if err != nil {
		return fmt.Errorf("import %s: %w", source.Source, err)
	}
	if output != "" {
		err := atomicfile.Create(output, result.Policy, 0o644)
		if errors.Is(err, fs.ErrExist) {
			return cli.Hinted(fmt.Errorf("import: %s is there already; nothing was written", output), "name another file, or compare: stopgate diff "+visible.ShellWord(output)+" NEW")
		}
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
	}
	if format == "json" {
		return cli.WriteJSON(s.Out, importReport(result, output))
	}
	if output == "" {
		if _, err := s.Out.Write(result.Policy); err != nil {
			return err
		}
	}
	printImport(s, result, output)
	return nil
}

// files reads the files that are named, or those that the agent would read.
func (i importSource) files(names []string, root string) (files []draft.File, err error) {
	found := names
	if len(names) == 0 {
		home, _ := os.UserHomeDir()
		for _, p := range i.Files {
			if rest, ok := strings.CutPrefix(p, "~/"); ok {
				if p = filepath.Join(home, rest); home == "" {
					continue
				}
			}
			matches, err := filepath.Glob(p)
			if err != nil {
				return nil, err
			}
			found = append(found, matches...)
		}
		if len(found) == 0 {
			return nil, cli.Hinted(fmt.Errorf("import %s: there are none; looked for %s", i.Source, strings.Join(i.Files, ", ")), "name the file")
		}
	}
	var seen []os.FileInfo
	for _, name := range found {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("import %s: %w", i.Source, err)
		}
		info, err := os.Stat(name)
		if err == nil && slices.ContainsFunc(seen, func(o os.FileInfo) bool { return os.SameFile(o, info) }) {
			continue // the project is the home directory
		}
		seen = append(seen, info)
		if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		files = append(files, draft.File{Name: filepath.ToSlash(name), Text: text})
	}
	return files, nil
}

// importJSON is the report for programs.
type importJSON struct {
	Files   []string           `json:"files"`
	Output  string             `json:"output,omitempty"`
	Rules   []draft.SourceRule `json:"rules"`
	Notes   []string           `json:"notes"`
	Remarks string             `json:"remarks,omitempty"`
	Policy  string             `json:"policy"`
}

func importReport(r *draft.Result, output string) importJSON {
	report := importJSON{Files: r.Files, Output: output, Rules: r.Rules, Notes: r.Notes, Remarks: r.Remarks, Policy: string(r.Policy)}
	if report.Rules == nil {
		report.Rules = []draft.SourceRule{}
	}
	return report
}

func printImport(s cli.Streams, r *draft.Result, output string) {
	counts := map[draft.Outcome]int{}
	for _, rule := range r.Rules {
		counts[rule.Outcome]++
		if rule.Outcome != draft.Same {
			what := map[draft.Outcome]string{draft.Stricter: "stricter", draft.LeftOut: "left out"}[rule.Outcome]
			fmt.Fprintf(s.Err, "%s:%d: %s: %s: %s\n", visible.Text(rule.File), rule.Line, visible.Text(rule.Label()), what, visible.Text(rule.Note))
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(s.Err, "note: %s\n", visible.Text(n))
	}
	if r.Remarks != "" {
		fmt.Fprintf(s.Err, "a strict check does not accept the policy:\n%s", visible.Lines(r.Remarks))
	}
	names := make([]string, len(r.Files))
	for i, name := range r.Files {
		names[i] = visible.Text(name)
	}
	rules := "rules"
	if len(r.Rules) == 1 {
		rules = "rule"
	}
	fmt.Fprintf(s.Err, "%d %s of %s: %d the same, %d stricter, %d left out\n", len(r.Rules), rules, strings.Join(names, ", "), counts[draft.Same], counts[draft.Stricter], counts[draft.LeftOut])
	if output != "" {
		fmt.Fprintf(s.Err, "wrote %s; next: stopgate check --strict %s\n", visible.Text(output), visible.ShellWord(output))
	}
}
