package evaluate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/dryrun"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/suite"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/visible"
)

func NewTest(s cli.Streams) *cobra.Command {
	var t testRun
	var pattern string
	cmd := &cobra.Command{
		Use:   "test [DIR|FILE...]",
		Short: "run the tests of policies",
		Long: `test runs cases that say what a policy decides: every *.test.toml in the named
directories and below, by default here. A case is one call, or several calls of one
session with their results.

  [[case]]
  name = "secrets stay out of reach"
  tool = "fs_write_file"
  args = { path = "src/../.env", content = "" }
  expect = "deny"

Without a key "policy" a file tests the nearest stopgate.toml, in its directory or
above.

Exit: 0 all passed, 3 cases failed, too few rules were reached, or a file has mistakes.`,
		Example: `  stopgate test
  stopgate test --run secrets --verbose policies/
  stopgate test --min-coverage 100 --format junit > report.xml`,
		ValidArgsFunction: cli.CompleteTOML,
	}
	cmd.Flags().StringVar(&pattern, "run", "", "run the cases whose name matches `REGEX`")
	cli.LookUpFlag(cmd, "run", func(context.Context, *cobra.Command) []string { return caseNames(".") })
	cmd.Flags().BoolVarP(&t.verbose, "verbose", "v", false, "list the cases that pass, too")
	cmd.Flags().BoolVar(&t.coverage, "coverage", false, "list the rules that no case reached")
	cmd.Flags().Float64Var(&t.least, "min-coverage", 0, "fail if less than this many `PERCENT` of the rules were reached")
	format := cli.FormatFlag(cmd, "junit", "github")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t.streams, t.format = s, *format
		if t.least < 0 || t.least > 100 {
			return cli.Usagef("--min-coverage is a number from 0 to 100")
		}
		name, err := regexp.Compile(pattern)
		if err != nil {
			return cli.Usagef("--run: %w", err)
		}
		if len(args) == 0 {
			args = []string{"."}
		}
		files, err := suite.Find(args)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return cli.Hinted(fmt.Errorf("no tests found: no *%s below %s", suite.Suffix, args[0]), "stopgate init writes a first one")
		}
		if err := t.run(cmd, files, name); err != nil {
			return err
		}
		return t.write(s)
	}
	return cmd
}

// caseNames returns patterns that match the names of the cases below a directory, each one name. They
// have no blanks, which shells would have to quote.
func caseNames(dir string) (list []string) {
	files, err := suite.Find([]string{dir})
	if err != nil {
		return nil
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			value, ok := strings.CutPrefix(strings.TrimSpace(line), "name = ")
			if name, err := strconv.Unquote(value); ok && err == nil && visible.Text(name) == name {
				list = append(list, strings.ReplaceAll(regexp.QuoteMeta(name), " ", "."))
			}
		}
	}
	return list
}

// testRun is one run of test.
type testRun struct {
	streams  cli.Streams
	format   cli.Format
	verbose  bool
	coverage bool
	least    float64

	reports        []*suite.Report
	passed, failed int
	covered        suite.Coverage
}

// run loads and runs every file. Files with mistakes keep all from running, so that
// a number of passed cases is never that of some files only.
func (t *testRun) run(cmd *cobra.Command, files []string, name *regexp.Regexp) error {
	var suites []*suite.Suite
	var mistakes diag.List
	var sources config.Set
	for _, file := range files {
		s, found, err := suite.Load(file, suite.Options{Tools: inputs.ReadTools, Gate: caseGate})
		if err != nil {
			return inputs.Unread(err)
		}
		mistakes = append(mistakes, found...)
		sources.Files = append(sources.Files, s.Read()...)
		suites = append(suites, s)
	}
	if mistakes.HasErrors() {
		mistakes.Sort() // removes those of files that several suites test
		return config.MistakesError{List: mistakes, Set: sources}
	}
	progress := cli.StartProgress(t.streams, "running", "suites", len(suites))
	defer progress.End()
	for _, s := range suites {
		report, err := s.Run(cmd.Context(), name.MatchString)
		if err != nil {
			return err
		}
		progress.Add(1)
		for i := range report.Cases {
			if report.Cases[i].Passed() {
				t.passed++
			} else {
				t.failed++
			}
		}
		t.reports = append(t.reports, report)
	}
	if t.passed+t.failed == 0 {
		return errors.New("no case ran: none has a name that --run matches, or the files have none")
	}
	t.covered = suite.Cover(t.reports...)
	return nil
}

// short reports whether too few rules were reached.
func (t *testRun) short() bool { return t.covered.Percent() < t.least }

// caseGate makes the gate of a test case.
func caseGate(program *policy.Program, person gate.Approver) (*gate.Gate, error) {
	return dryrun.GateFor(program, person)
}
