package begin

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/hosts"
	"github.com/stopgate/stopgate/internal/system/tty"
	"github.com/stopgate/stopgate/internal/visible"
)

// NewStart makes the command start.
func NewStart(s cli.Streams) *cobra.Command {
	var yes, dry, run, fewer bool
	var without []string
	cmd := &cobra.Command{
		Use:   "start [DIR]",
		Short: "set everything up for this project, after one question",
		Long: `start looks at the project and at the coding agents of this machine, and shows on one
screen what a policy for it would let run, ask about and deny, and which files it
would write. After a yes it writes the policy with some test cases and trusts it, installs
the hooks of the agents, puts the gate before their MCP servers, and runs doctor. Nothing
of the project runs. stopgate stop undoes all of it, byte for byte.

The commands that test and build the project ask, because they run what agents write;
--run-commands, or c at the question, lets them run.`,
		Example: `  stopgate start
  stopgate start --dry-run
  stopgate start --yes --without servers`,
		Args: cli.AtMostOne,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&yes, "yes", false, "do it without the question")
	flags.BoolVar(&dry, "dry-run", false, "show what would be done, and do nothing")
	flags.BoolVar(&run, "run-commands", false, "let the commands of the project run without a question")
	flags.BoolVar(&fewer, "fewer-prompts", false, "the hooks answer \"allow\" for what the policy lets run, which skips the agent's own question")
	flags.StringSliceVar(&without, "without", nil, "leave out `PART`: policy, trust, hooks or servers; repeatable")
	cli.CompleteFlag(cmd, "without", cli.Words(parts)...)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c := choice{run: run}
		for _, w := range without {
			if !known(part(w)) {
				return cli.Usagef("--without %q: the parts are policy, trust, hooks and servers", w)
			}
			c.without = append(c.without, part(w))
		}
		if fewer {
			c.flags = append(c.flags, "--fewer-prompts")
		}
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		p, err := newPlanner(dir)
		if err != nil {
			return err
		}
		a := starting{Streams: s, planner: p, json: *format == "json"}
		out, ok, err := a.decide(c, yes, dry)
		if err != nil || !ok {
			return err
		}
		return a.do(cmd, out)
	}
	return cmd
}

var parts = []part{partPolicy, partTrust, partHooks, partServers}

func known(p part) bool {
	for _, q := range parts {
		if p == q {
			return true
		}
	}
	return false
}

// starting is one run of start.
type starting struct {
	cli.Streams
	*planner
	json bool
}

// decided is a plan that a person, or a flag, has said yes to.
type decided struct {
	plan     *plan
	choice   choice
	examples []example
}

// startJSON is the report of start; it changes only by addition.
type startJSON struct {
	Project   string    `json:"project"`
	DryRun    bool      `json:"dry_run"`
	Policy    string    `json:"policy"`
	Kept      bool      `json:"policy_kept"` // another policy was there
	Commands  any       `json:"commands"`
	Examples  []example `json:"examples"`
	Plan      []done    `json:"plan"`
	Uncovered []string  `json:"uncovered"`
	Done      []done    `json:"done"`
}

// decide shows the plan and asks. ok is false if nothing is to be done.
func (a starting) decide(c choice, yes, dry bool) (d decided, ok bool, err error) {
	if !yes && !dry {
		if in, is := a.In.(*os.File); a.json || !is || !tty.Is(in) {
			return d, false, cli.Hinted(fmt.Errorf("start asks before it changes anything, and there is no terminal"), "stopgate start --dry-run shows what it would do, and --yes does it")
		}
	}
	for {
		p, err := a.plan(c)
		if err != nil {
			return d, false, err
		}
		list, err := p.judged(c.has(partPolicy) && c.has(partTrust) && !p.kept, a.home)
		if err != nil {
			return d, false, err
		}
		view := screen{a.Out, columns(a.Out), a.home}
		d = decided{p, c, list}
		if a.json {
			if dry {
				return d, false, cli.WriteJSON(a.Out, a.report(p, list, dry, nil))
			}
			return d, true, nil
		}
		view.show(p, c, list)
		if dry || yes {
			return d, yes && !dry, nil
		}
		next, answer, err := a.ask(view, p, c)
		switch {
		case err != nil:
			return d, false, err
		case answer == "y":
			return d, true, nil
		case answer == "n":
			fmt.Fprintln(a.Err, "stopgate: nothing was changed")
			return d, false, nil
		}
		c = next
	}
}

// ask asks until there is an answer that changes something: y, n, or a choice.
func (a starting) ask(view screen, p *plan, c choice) (choice, string, error) {
	t, err := cli.OpenTerminal(", or use --yes")
	if err != nil {
		return c, "", err
	}
	defer t.Close()
	t.Drain()
	for {
		fmt.Fprintf(t, "\nDo all of this?\n  y yes   n no   d details\n  c %s\n  h %s   s %s   p %s\n> ",
			either(c.run, "commands ask", "commands run without a question"), either(!c.has(partHooks), "with hooks", "no hooks"),
			either(!c.has(partServers), "with servers", "no servers"), either(!c.has(partPolicy), "with policy", "no policy"))
		line, err := t.Line()
		if err != nil {
			return c, "n", nil
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return c, "y", nil
		case "n", "no", "q", "quit":
			return c, "n", nil
		case "d", "details":
			view.details(p)
		case "c":
			c.run = !c.run
			return c, "", nil
		case "h":
			return c.toggle(partHooks), "", nil
		case "s":
			return c.toggle(partServers), "", nil
		case "p":
			return c.toggle(partPolicy), "", nil
		}
	}
}

func either(is bool, a, b string) string {
	if is {
		return a
	}
	return b
}

// toggle leaves a part out, or takes it in again.
func (c choice) toggle(p part) choice {
	var without []part
	for _, q := range c.without {
		if q != p {
			without = append(without, q)
		}
	}
	if c.has(p) {
		without = append(without, p)
	}
	c.without = without
	return c
}

// report describes a plan and what was done.
func (a starting) report(p *plan, list []example, dry bool, made []done) startJSON {
	r := startJSON{Project: p.root, DryRun: dry, Policy: string(p.policy), Kept: p.kept, Commands: p.project.Covered(), Examples: list, Plan: []done{}, Uncovered: append([]string{}, p.uncovered...), Done: append([]done{}, made...)}
	for _, ch := range p.changes {
		r.Plan = append(r.Plan, done{ch.part, ch.host, ch.file, ch.did()})
	}
	return r
}

// do makes the changes, runs doctor and says how to undo them.
func (a starting) do(cmd *cobra.Command, d decided) error {
	p, c := d.plan, d.choice
	made, err := a.apply(p, c)
	if a.json {
		if werr := cli.WriteJSON(a.Out, a.report(p, d.examples, false, made)); err == nil {
			err = werr
		}
	} else {
		a.print(p, made)
	}
	if err != nil {
		return cli.Hinted(err, "what is listed above was done; stopgate stop undoes it")
	}
	if c.has(partHooks) && len(a.found) > 0 {
		a.doctor(cmd, p)
	}
	if !a.json {
		next := "start your agent here as always"
		if len(a.found) == 0 || !c.has(partHooks) && !c.has(partServers) {
			next = "put the gate into an agent with stopgate install, or start one that has it: stopgate agent"
		}
		fmt.Fprintf(a.Err, "\nnext: %s. Undo all of this: stopgate stop\n", next)
	}
	return nil
}

// print lists what was done.
func (a starting) print(p *plan, made []done) {
	view := screen{a.Out, columns(a.Out), a.home}
	if len(made) == 0 {
		fmt.Fprintln(a.Out, "\nnothing to change: everything is there")
		return
	}
	view.head("Done")
	for _, d := range made {
		view.row(d.Did, view.short(d.File, p.root)+either(d.Host != "", " ("+d.Host+")", ""), column)
	}
	hints := map[string]bool{}
	for _, ch := range p.changes {
		if ch.hint != "" && !hints[ch.host] {
			hints[ch.host] = true
			fmt.Fprintf(a.Err, "stopgate: %s runs the hook only after you trusted it there: %s\n", ch.host, visible.Text(ch.hint))
		}
	}
}

// doctor sends every hook a call that must be denied. Its result is a report: the changes stay.
func (a starting) doctor(cmd *cobra.Command, p *plan) {
	to := a.Out
	if a.json {
		to = io.Discard
	} else {
		fmt.Fprintln(a.Out, "\nThe hooks, each tried with a call that must be denied")
	}
	d := hosts.NewDoctor(cli.Streams{In: a.In, Out: to, Err: a.Err})
	d.SetContext(cmd.Context())
	d.SilenceErrors, d.SilenceUsage = true, true
	d.SetArgs(nil)
	if err := d.RunE(d, nil); err != nil {
		fmt.Fprintln(a.Err, "stopgate: not every hook denies yet, see above; then try: stopgate doctor")
	}
}
