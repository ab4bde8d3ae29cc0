package evaluate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/ci"
	"github.com/stopgate/stopgate/internal/cli/dryrun"
	"github.com/stopgate/stopgate/internal/cli/suite"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/visible"
)

// write prints the report and returns the exit code.
func (t *testRun) write(s cli.Streams) error {
	var err error
	switch t.format {
	case "json":
		err = cli.WriteJSON(s.Out, t.json())
	case "junit":
		err = ci.JUnit(s.Out, t.junit())
	case "github":
		if err = ci.GitHub(s.Out, t.annotations()); err == nil {
			_, err = io.WriteString(s.Err, t.summary())
		}
	default:
		_, err = io.WriteString(s.Out, cli.Fit(s.Out, t.text()))
	}
	if err != nil {
		return err
	}
	if t.failed > 0 || t.short() {
		return cli.Exit(cli.ExitMistakes)
	}
	return nil
}

// text is the report for people: every failure with the expected and the actual verdict, and
// why.
func (t *testRun) text() string {
	var b strings.Builder
	for _, r := range t.reports {
		head := false
		for i := range r.Cases {
			c := &r.Cases[i]
			if c.Passed() && !t.verbose {
				continue
			}
			if !head {
				fmt.Fprintf(&b, "%s\n", visible.Text(r.Suite.File))
				head = true
			}
			if c.Passed() {
				fmt.Fprintf(&b, "  ok    %s\n", visible.Text(c.Name))
				continue
			}
			fmt.Fprintf(&b, "  FAIL  %s\n", visible.Text(c.Name))
			b.WriteString(indent(failedCall(r.Suite.File, c), "        "))
		}
		if head {
			b.WriteByte('\n')
		}
	}
	b.WriteString(t.summary())
	return b.String()
}

// failedCall shows the call that failed, which is the last one of its case.
func failedCall(file string, c *suite.CaseReport) string {
	call := &c.Calls[len(c.Calls)-1]
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d", visible.Text(file), call.Line)
	if len(c.Calls) > 1 {
		fmt.Fprintf(&b, ", call %d", len(c.Calls))
	}
	fmt.Fprintf(&b, ": %s %s\n", visible.Text(string(call.Call.Call.Tool)), visible.Lines(visible.Elide(string(call.Args), 200)))
	width := 0
	for _, m := range call.Mismatches {
		width = max(width, len(m.Field))
	}
	for _, m := range call.Mismatches {
		fmt.Fprintf(&b, "  %-*s  expected %s, got %s\n", width, m.Field, visible.Text(m.Want), visible.Text(m.Got))
	}
	b.WriteString(indent(dryrun.ExplainText(dryrun.NewAnswer(call.Call.Call, call.Verdict, len(call.Args)), call.Explanation), "  "))
	return b.String()
}

func indent(text, by string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		if strings.TrimSpace(line) != "" {
			b.WriteString(by)
		}
		b.WriteString(line)
	}
	return b.String()
}

// summary is the end of the report: the counts, and the rules that no case reached.
func (t *testRun) summary() string {
	var b strings.Builder
	if t.coverage || t.short() {
		for _, rule := range t.covered.Unreached {
			fmt.Fprintf(&b, "not reached: %s\n", unreached(rule))
		}
	}
	fmt.Fprintf(&b, "%s: %d passed, %d failed", cli.Count(t.passed+t.failed, "case"), t.passed, t.failed)
	if t.coverage || t.least > 0 {
		fmt.Fprintf(&b, "; %d of %s reached (%.1f %%)", t.covered.Reached, cli.Count(t.covered.Rules, "rule"), t.covered.Percent())
		if t.short() {
			fmt.Fprintf(&b, ", want %g %%", t.least)
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// unreached describes a rule that no case reached.
func unreached(rule policy.RuleInfo) string {
	place := fmt.Sprintf("rule %d of [tools.%s] %s", rule.Ref.Index+1, dryrun.TOMLKey(rule.Table), rule.List)
	if rule.Table == "" {
		place = fmt.Sprintf("guard %d", rule.Ref.Index+1)
	}
	return fmt.Sprintf("%s:%d: %s, %s", visible.Text(rule.Ref.File), rule.Ref.Line, visible.Text(place), rule.Mode)
}

// testJSON is the contract of `test --format json`; it changes only by addition.
type testJSON struct {
	Suites   []suiteJSON  `json:"suites"`
	Passed   int          `json:"passed"`
	Failed   int          `json:"failed"`
	Coverage coverageJSON `json:"coverage"`
}

type suiteJSON struct {
	File   string     `json:"file"`
	Policy []string   `json:"policy"`
	Cases  []caseJSON `json:"cases"`
}

type caseJSON struct {
	Name   string     `json:"name"`
	Line   int        `json:"line"`
	Passed bool       `json:"passed"`
	Calls  []callJSON `json:"calls"`
}

type callJSON struct {
	dryrun.Answer
	Line       int                    `json:"line"`
	Args       string                 `json:"args"` // the text as it was judged
	Mismatches []suite.Mismatch       `json:"mismatches,omitempty"`
	Lists      []eval.ListExplanation `json:"lists,omitempty"` // of a call that is not as expected
}

type coverageJSON struct {
	Rules     int           `json:"rules"`
	Reached   int           `json:"reached"`
	Percent   json.Number   `json:"percent"`
	Unreached []dryrun.Rule `json:"unreached"`
}

func (t *testRun) json() testJSON {
	all := testJSON{Suites: []suiteJSON{}, Passed: t.passed, Failed: t.failed}
	for _, r := range t.reports {
		s := suiteJSON{File: r.Suite.File, Policy: r.Suite.Files(), Cases: []caseJSON{}}
		for i := range r.Cases {
			c := &r.Cases[i]
			out := caseJSON{Name: c.Name, Line: c.Line, Passed: c.Passed()}
			for j := range c.Calls {
				call := &c.Calls[j]
				x := callJSON{Answer: dryrun.NewAnswer(call.Call.Call, call.Verdict, len(call.Args)), Line: call.Line, Args: string(call.Args), Mismatches: call.Mismatches}
				if len(call.Mismatches) > 0 {
					x.Lists = call.Explanation.Lists
				}
				out.Calls = append(out.Calls, x)
			}
			s.Cases = append(s.Cases, out)
		}
		all.Suites = append(all.Suites, s)
	}
	all.Coverage = coverageJSON{
		Rules: t.covered.Rules, Reached: t.covered.Reached, Unreached: []dryrun.Rule{},
		Percent: json.Number(fmt.Sprintf("%.1f", t.covered.Percent())),
	}
	for _, rule := range t.covered.Unreached {
		all.Coverage.Unreached = append(all.Coverage.Unreached, dryrun.Rule{File: rule.Ref.File, Line: rule.Ref.Line, Index: rule.Ref.Index})
	}
	return all
}

func (t *testRun) junit() []ci.Suite {
	var all []ci.Suite
	for _, r := range t.reports {
		s := ci.Suite{Name: r.Suite.File}
		for i := range r.Cases {
			c := &r.Cases[i]
			out := ci.Case{Name: c.Name, Class: r.Suite.File, File: r.Suite.File, Line: c.Line}
			if !c.Passed() {
				out.Kind, out.Failure, out.Detail = "mismatch", inOneLine(c), failedCall(r.Suite.File, c)
			}
			s.Cases = append(s.Cases, out)
		}
		all = append(all, s)
	}
	if t.least > 0 {
		c := ci.Case{Name: "coverage", Class: "stopgate test"}
		if t.short() {
			c.Kind, c.Failure, c.Detail = "coverage", strings.TrimSpace(lastLine(t.summary())), t.summary()
		}
		all = append(all, ci.Suite{Name: "coverage", Cases: []ci.Case{c}})
	}
	return all
}

func lastLine(text string) string {
	text = strings.TrimSuffix(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func (t *testRun) annotations() []ci.Annotation {
	var all []ci.Annotation
	for _, r := range t.reports {
		for i := range r.Cases {
			if c := &r.Cases[i]; !c.Passed() {
				call := &c.Calls[len(c.Calls)-1]
				all = append(all, ci.Annotation{Level: "error", File: r.Suite.File, Line: call.Line, Title: c.Name, Message: inOneLine(c)})
			}
		}
	}
	if t.short() {
		for _, rule := range t.covered.Unreached {
			all = append(all, ci.Annotation{Level: "warning", File: rule.Ref.File, Line: rule.Ref.Line, Title: "no case reaches this rule", Message: unreached(rule)})
		}
	}
	return all
}

// inOneLine lists the mismatches of a case: expect: expected deny, got ask.
func inOneLine(c *suite.CaseReport) string {
	var parts []string
	for _, m := range c.Calls[len(c.Calls)-1].Mismatches {
		parts = append(parts, fmt.Sprintf("%s: expected %s, got %s", m.Field, m.Want, m.Got))
	}
	return strings.Join(parts, "; ")
}
