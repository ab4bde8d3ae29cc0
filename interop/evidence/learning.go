package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/knowntools"
	rules "github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/approved"
)

// learning measures stopgate learn by cross-validation: each group of calls is left out once, rules are
// learned from the others, and its questions are counted under the starter and under those rules.
type learning struct {
	ctx     context.Context
	out     io.Writer
	verbose bool
	suite   string // "" for all
}

// parts is how many sessions the labelled commands are cut into, by a hash of their line.
const parts = 10

// measure prints the tables of docs/learn.md.
func (l *learning) measure(dir string) error {
	coding, err := config.StarterFor("coding")
	if err != nil {
		return err
	}
	options := policy.Options{Root: "/srv/project", Home: "/home/u", Known: knowntools.Recognise}
	agent := rules.Policy{Name: "stopgate.toml", Text: coding[0].Text, Options: options}
	sessions, err := codingCalls(filepath.Join(filepath.Dir(dir), "toolcalls", "coding-agent.jsonl"))
	if err != nil {
		return err
	}
	if l.suite == "" || l.suite == "coding" {
		if err := l.table("coding sessions, one left out", agent, sessions, func(c approved.Call) string { return c.Session }, true); err != nil {
			return err
		}
	}
	commands, err := labelledCalls(filepath.Join(filepath.Dir(dir), "commands", "labelled.jsonl"))
	if err != nil {
		return err
	}
	if l.suite == "" || l.suite == "commands" {
		if err := l.table(fmt.Sprintf("labelled commands, one of %d parts left out", parts), agent, commands, func(c approved.Call) string { return c.Session }, false); err != nil {
			return err
		}
	}
	general := rules.Policy{Name: "stopgate.toml", Text: config.Starter(), Options: options}
	for _, suite := range suites {
		if l.suite != "" && l.suite != suite {
			continue
		}
		runs, err := load(dir, suite)
		if err != nil {
			return err
		}
		calls := suiteCalls(runs)
		task := map[string]string{}
		for _, r := range runs {
			task[runName(r)] = r.Task
		}
		if err := l.table(suite+", one benign run left out", general, calls, func(c approved.Call) string { return benignOnly(c, c.Session) }, false); err != nil {
			return err
		}
		if err := l.table(suite+", all runs of a task left out", general, calls, func(c approved.Call) string { return benignOnly(c, task[c.Session]) }, true); err != nil {
			return err
		}
	}
	return nil
}

// benignOnly leaves the calls of attacks out of no fold: they are refused in each.
func benignOnly(c approved.Call, name string) string {
	if c.No {
		return ""
	}
	return name
}

func (l *learning) table(title string, p rules.Policy, calls []approved.Call, group func(approved.Call) string, each bool) error {
	plan := approved.Plan{Group: group}
	if l.verbose {
		plan.Trace = l.trace
	}
	folds, err := approved.Validate(l.ctx, p, calls, plan)
	if err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	blind := slices.Clone(folds)
	if slices.ContainsFunc(folds, func(f approved.Fold) bool { return f.Refused > 0 }) {
		plan.Blind, plan.Trace = true, nil
		if blind, err = approved.Validate(l.ctx, p, calls, plan); err != nil {
			return fmt.Errorf("%s: %w", title, err)
		}
	}
	fmt.Fprintf(l.out, "\n%s\n\n| left out | calls | asked | saved | | within reach | | refused calls permitted | without their refusals |\n|---|---|---|---|---|---|---|---|---|\n", title)
	row := func(f, blind approved.Fold) {
		fmt.Fprintf(l.out, "| %s | %d | %d | %d | %.1f %% | %d | %.1f %% | %d of %d | %d |\n", f.Name, f.Calls, f.Asked, f.Saved, f.Share(), f.Within, f.ShareWithin(), f.Loosened, f.Refused, blind.Loosened)
		if f.Changed > 0 {
			fmt.Fprintf(l.out, "MISTAKE: %d calls that were not asked about have another verdict\n", f.Changed)
		}
	}
	if each {
		for i := range folds {
			row(folds[i], blind[i])
		}
	}
	row(approved.Sum(folds), approved.Sum(blind))
	return nil
}

func (l *learning) trace(fold string, r *rules.Result, asks []approved.Call) {
	fmt.Fprintf(l.out, "\nwithout %s:\n", fold)
	for _, p := range r.Proposals {
		fmt.Fprintf(l.out, "  %d %s %s %s\n", len(p.Covers), p.Tool, p.How, p.Rule)
	}
	for _, c := range asks {
		fmt.Fprintf(l.out, "  asks: %s %.200s\n", c.Tool, c.Args)
	}
}

// codingCalls are the calls of recorded sessions of a coding agent, each of which a person approves.
func codingCalls(path string) (calls []approved.Call, err error) {
	err = eachLine(path, func(text []byte) error {
		var c struct {
			Session, Tool string
			Args          json.RawMessage
		}
		err := json.Unmarshal(text, &c)
		calls = append(calls, approved.Call{Session: c.Session, Tool: c.Tool, Args: c.Args})
		return err
	})
	return calls, err
}

// labelledCalls are the labelled commands in parts; a person refuses those that are not safe.
func labelledCalls(path string) (calls []approved.Call, err error) {
	err = eachLine(path, func(text []byte) error {
		var c struct {
			Command string
			Safe    bool
		}
		if err := json.Unmarshal(text, &c); err != nil {
			return err
		}
		args, err := json.Marshal(map[string]string{"command": c.Command})
		sum := fnv.New32a()
		sum.Write(text)
		calls = append(calls, approved.Call{Session: fmt.Sprintf("part %d", sum.Sum32()%parts), Tool: "Bash", Args: args, No: !c.Safe})
		return err
	})
	slices.SortStableFunc(calls, func(a, b approved.Call) int { return len(a.Session) - len(b.Session) })
	return calls, err
}

// suiteCalls are the calls of benign runs, and those of attacks, which a person refuses.
func suiteCalls(runs []*Run) (calls []approved.Call) {
	attacks := learn(runs)
	for _, r := range runs {
		r.Each(func(c *Call) {
			if r.Benign() || attacks.Injected(r, c) {
				calls = append(calls, approved.Call{Session: runName(r), Tool: c.Tool, Args: c.Args, No: !r.Benign()})
			}
		})
	}
	return calls
}

func runName(r *Run) string { return r.Task + " " + r.Model + " " + r.Attack }

func eachLine(path string, f func([]byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if err := f(lines.Bytes()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return lines.Err()
}
