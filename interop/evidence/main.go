package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	o := options{}
	flag.StringVar(&o.corpus, "corpus", filepath.Join("..", "..", "shared", "corpus", "agentdyn"), "the folder of the recorded runs")
	flag.StringVar(&o.policies, "policies", filepath.Join("..", "examples", "flow"), "the folder of the policies")
	flag.StringVar(&o.taint, "taint", filepath.Join("evidence", "policies"), "the folder of the policies that know taint alone")
	flag.StringVar(&o.suite, "suite", "", "one suite; all without it")
	flag.StringVar(&o.half, "half", "all", "design: only runs that were looked at while the policies were written; test: the others; all")
	flag.BoolVar(&o.verbose, "v", false, "print every leftover")
	flag.BoolVar(&o.learn, "learn", false, "measure what rules that are learned from approvals save, by cross-validation")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

type options struct {
	corpus, policies, taint, suite, half string
	verbose, learn                       bool
}

// suites are the suites of the recordings that have a policy.
var suites = []string{"dailylife", "github"}

func run(ctx context.Context, w io.Writer, o options) error {
	if o.learn {
		err := (&learning{ctx, w, o.verbose, o.suite}).measure(o.corpus)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(w, "no recorded calls next to %s: nothing is measured, see docs/learn.md\n", o.corpus)
			return nil
		}
		return err
	}
	for _, suite := range suites {
		if o.suite != "" && o.suite != suite {
			continue
		}
		runs, err := load(o.corpus, suite)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(w, "%s: no recorded runs at %s: nothing is measured. They are those of AgentDyn, see docs/evidence.md\n", suite, o.corpus)
			continue
		}
		if err != nil {
			return err
		}
		if err := compare(ctx, w, suite, runs, o); err != nil {
			return err
		}
	}
	return nil
}

// compare prints the rows of a suite.
func compare(ctx context.Context, w io.Writer, suite string, runs []*Run, o options) error {
	attacks := learn(runs)
	fmt.Fprintf(w, "\n%s: %d runs\n", suite, len(runs))
	if o.verbose {
		attacks.print(w, o.half)
	}
	fmt.Fprintln(w, header)
	halves := map[string][]*Run{}
	for _, r := range runs {
		halves[r.half()] = append(halves[r.half()], r)
	}
	for _, p := range []struct{ name, file string }{
		{"none", ""},
		{"taint", filepath.Join(o.taint, "taint_"+suite+".toml")},
		{"rules", filepath.Join(o.policies, suite+".toml")},
	} {
		var all Count
		for _, half := range []string{"design", "test"} {
			if o.half != half && o.half != "all" {
				continue
			}
			n, err := count(ctx, p.file, halves[half], attacks)
			if err != nil {
				return err
			}
			n.rows(w, p.name, half)
			all.plus(n)
		}
		if o.half == "all" {
			all.rows(w, p.name, "all")
		}
		if o.verbose && p.name == "rules" {
			for _, line := range slices.Compact(slices.Sorted(slices.Values(all.leftovers))) {
				fmt.Fprintln(w, "   ", line)
			}
		}
	}
	return nil
}

// count counts runs under the policy of a file, or under none.
func count(ctx context.Context, file string, runs []*Run, attacks *Attacks) (*Count, error) {
	if file == "" {
		return bare(runs, attacks), nil
	}
	g, err := guard(file)
	if err != nil {
		return nil, err
	}
	return measure(ctx, g, runs, attacks)
}

// bare counts what the recordings have without any policy.
func bare(runs []*Run, attacks *Attacks) *Count {
	n := &Count{}
	for _, r := range runs {
		var decided []Decided
		r.Each(func(c *Call) {
			decided = append(decided, Decided{Call: c, Injected: attacks.Injected(r, c), Ran: true})
		})
		n.add(r, decided, attacks)
		if !r.Benign() {
			n.Appended++
			n.Passed++
		}
	}
	return n
}

// print prints how the calls of each attack are recognised. Without design nothing of the attacks
// of the test half is printed.
func (a *Attacks) print(w io.Writer, half string) {
	var names []string
	for name := range a.kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		k := a.kinds[name]
		fmt.Fprintf(w, "  %s: %s\n", name, k.how)
		if half == "all" {
			for _, c := range k.calls {
				fmt.Fprintf(w, "    %s %s\n", c.Tool, c.Args)
			}
		}
	}
}
