package evaluate

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/dryrun"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/inspect"
)

// recordFlags name a recorded call instead of describing one.
type recordFlags struct {
	inputs.State
	id string
}

func (f *recordFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.id, "record", "", "explain the recorded call of this `ID`, as 'stopgate log' prints it, in the setting that it was made in")
	f.AddStore(cmd, "with --record: `URL` of the store (default: as up would write it)")
}

// explain explains the recorded call; its answer is that of the rules now.
func (f *recordFlags) explain(cmd *cobra.Command, s cli.Streams, c *dryrun.Flags, format cli.Format) error {
	if c.Tool != "" || c.Args != "" || c.ArgsFile != "" || c.As != "" || c.Server != "" || c.Root != "" || c.Session != "" || c.Agent != "" || len(c.Texts) > 0 || c.TextsFile != "" {
		return cli.Usagef("--record says which call it is: leave out what describes another one")
	}
	ctx := cmd.Context()
	given, err := dryrun.SessionData(c.Data)
	if err != nil {
		return err
	}
	log, settings, err := (&inputs.Records{State: f.State, Files: c.Files}).Open(ctx)
	if err != nil {
		return err
	}
	defer log.Close()
	rows, err := log.Of(ctx, stopgate.ProposalID(f.id))
	if err != nil {
		return err
	}
	w, err := inspect.NewShow(ctx, log, rows)
	if err != nil {
		return err
	}
	if w.Decision == nil {
		return cli.Hinted(fmt.Errorf("no decision is recorded about %q", f.id), "ids are at the end of the lines of 'stopgate log --decisions'")
	}
	w.Data = given
	a, x, err := w.Explain(ctx, &c.Policy, settings)
	if err != nil {
		return err
	}
	if x == nil {
		return cli.Hinted(errors.New("the call cannot be judged again: its arguments are not whole, or the policy here is another one"),
			"name the policy of then with --policy, or judge by this one: stopgate replay --policy FILE")
	}
	answer := struct {
		explanationJSON
		Gone    []string `json:"context_gone,omitempty"`
		Differs string   `json:"differs,omitempty"`
	}{explanationJSON{a, x.Recognised, x.NotKnown, traceOf(x.Trace), x.Lists, nil, nil}, w.Gone, w.Differs}
	if err := format.Print(s.Out, answer, cli.Coloured(s.Out, dryrun.ExplainText(a, *x)+w.DifferenceText())); err != nil {
		return err
	}
	return a.Status()
}
