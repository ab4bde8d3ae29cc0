package learning

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/inspect"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/learn"
)

// NewLearn returns the command.
func NewLearn(s cli.Streams) *cobra.Command {
	var f inputs.Policy
	var records inputs.Records
	var since, until string
	var o learn.Options
	var write []string
	cmd := &cobra.Command{
		Use:   "learn [FILE|STORE]",
		Short: "propose rules from what people approved, and write those you choose",
		Long: `learn reads in the records which calls people approved and proposes the fewest rules that
would have answered these questions. It shows for each rule the approvals behind it, the
calls that it would have let pass, a call that it would newly permit, and refused calls
that keep it narrow. At a terminal it asks about each rule, shows the change of your
policy file, and writes it after a yes; the tests of the policy get a case for each.

Only a yes of a person to a question of the gate counts, or a grant that a person gave,
never a yes of a program or a judge. A call that was refused is permitted by no rule. Questions that were left to
the prompt of the agent's own program count with --referred, if you answered them all.

A call has to be approved in two sessions, on two days, or three times. Values that nobody
has seen need three approvals, of three values, in two sessions or days: see docs/learn.md.

Exit: 0, also if there is nothing to propose.`,
		Example: `  stopgate learn --since 7d
  stopgate learn --since 7d --format json
  stopgate learn --since 7d --write 1f0c2a9b`,
		Args: cli.AtMostOne,
	}
	f.Add(cmd)
	records.State.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&since, "since", "7d", "from a `TIME` on: 2026-11-21, or a span back from now: 24h, 7d")
	flags.StringVar(&until, "until", "", "before a `TIME`")
	flags.StringSliceVar(&o.By, "by", nil, "count only approvals of `NAME`, as records have it")
	flags.BoolVar(&o.Referred, "referred", false, "calls that were left to the agent's own prompt, and ran, were approved by you")
	flags.StringSliceVar(&write, "write", nil, "write the proposals with these `ID`s of an earlier run, without questions")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		records.Files = f.Files
		r, err := read(ctx, s, cmd, args, &f, &records, o, since, until)
		if err != nil {
			return err
		}
		switch {
		case len(write) > 0:
			chosen, err := r.named(write)
			if err != nil {
				return err
			}
			return r.write(s.Err, chosen)
		case *format == "json":
			return format.Print(s.Out, r.json(), "")
		case len(r.Proposals) == 0:
			return format.Print(s.Out, nil, r.summary())
		}
		t, err := cli.OpenTerminal("")
		if err != nil {
			return format.Print(s.Out, nil, r.summary()+r.list()+"Run this at a terminal to choose, or name ids: stopgate learn --write ID\n")
		}
		defer t.Close()
		return r.choose(t)
	}
	return cmd
}

// run is one run of learn.
type run struct {
	*learn.Result
	file      config.File
	elsewhere int // approvals of other projects
	args      map[stopgate.ProposalID][]byte
}

// read finds the policy and the records, and learns.
func read(ctx context.Context, s cli.Streams, cmd *cobra.Command, args []string, f *inputs.Policy, records *inputs.Records, o learn.Options, since, until string) (*run, error) {
	l, err := f.Load(s.Err)
	if err != nil {
		return nil, err
	}
	filter, err := inspect.Since(since, until)
	if err != nil {
		return nil, err
	}
	log, err := records.OpenNamed(cmd, args)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r := &run{args: map[stopgate.ProposalID][]byte{}}
	var p learn.Policy
	if r.file, p, err = inspect.LearningPolicy(l); err != nil {
		return nil, err
	}
	root := l.Set.Root
	if r.file.Scope != config.Project {
		root = ""
	}
	rows, elsewhere, err := inspect.LearningRows(ctx, log, filter, l, root)
	if err != nil {
		return nil, err
	}
	r.elsewhere = elsewhere
	for i := range rows {
		r.args[rows[i].Record.ID] = rows[i].Args
	}
	p.Options = inspect.LearningOptions(p.Options, rows)
	r.Result, err = learn.Propose(p, rows, o)
	return r, err
}

// named returns the proposals with ids.
func (r *run) named(ids []string) (list []learn.Proposal, err error) {
	for _, id := range ids {
		i := slices.IndexFunc(r.Proposals, func(p learn.Proposal) bool { return p.ID == id })
		if i < 0 {
			return nil, cli.Hinted(fmt.Errorf("there is no proposal %q now", id), "list them with stopgate learn --format json, with the same --since and --by")
		}
		list = append(list, r.Proposals[i])
	}
	return list, nil
}

// answerJSON is the answer of learn; it changes only by addition.
type answerJSON struct {
	File      string         `json:"file"`
	Elsewhere int            `json:"other_projects"`
	Proposals []proposalJSON `json:"proposals"`
	learn.Counts
	Permitted int                   `json:"permitted"`
	Stricter  int                   `json:"stricter"`
	NotRules  int                   `json:"not_by_rules"`
	Secrets   int                   `json:"secrets"`
	Odd       int                   `json:"odd"`
	Rare      []stopgate.ProposalID `json:"rare"`
}

// proposalJSON is a proposal with a call that it would newly permit.
type proposalJSON struct {
	learn.Proposal
	Witness string `json:"witness,omitempty"`
	Problem string `json:"problem,omitempty"` // why the rule cannot be written
}

func (r *run) json() answerJSON {
	a := answerJSON{
		File: r.file.Path, Elsewhere: r.elsewhere, Proposals: []proposalJSON{}, Counts: r.Counts, Permitted: r.Permitted, Stricter: r.Stricter,
		NotRules: r.Result.Elsewhere, Secrets: r.Secrets, Odd: r.Odd, Rare: r.Rare,
	}
	for _, p := range r.Proposals {
		each := proposalJSON{Proposal: p}
		witness, _, err := r.Prove(p)
		if err != nil {
			each.Problem = err.Error()
		} else {
			each.Witness = string(witness.Args)
		}
		a.Proposals = append(a.Proposals, each)
	}
	return a
}

// plural writes a number of things.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, strings.TrimSuffix(one, "s"))
}
