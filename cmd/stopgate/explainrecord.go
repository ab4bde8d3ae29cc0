package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
)

// recordFlags name a recorded call instead of describing one.
type recordFlags struct {
	stateFlags
	id string
}

func (f *recordFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.id, "record", "", "explain the recorded call of this `ID`, as 'stopgate log' prints it, in the setting that it was made in")
	cmd.Flags().StringVar(&f.Store, "store", "", "with --record: `URL` of the store (default: as up would write it)")
}

// explain explains the recorded call; its answer is that of the rules now.
func (f *recordFlags) explain(cmd *cobra.Command, s streams, c *callFlags, format string) error {
	if c.tool != "" || c.args != "" || c.argsFile != "" || c.as != "" || c.server != "" || c.root != "" || c.session != "" || c.agent != "" {
		return usagef("--record says which call it is: leave out what describes another one")
	}
	ctx := cmd.Context()
	given, err := sessionData(c.data)
	if err != nil {
		return err
	}
	log, settings, err := (&logFlags{stateFlags: f.stateFlags, files: c.files}).open(ctx)
	if err != nil {
		return err
	}
	defer log.Close()
	rows, err := log.Of(ctx, stopgate.ProposalID(f.id))
	if err != nil {
		return err
	}
	w, err := newShow(ctx, log, rows)
	if err != nil {
		return err
	}
	if w.decision == nil {
		return hinted(fmt.Errorf("no decision is recorded about %q", f.id), "ids are at the end of the lines of 'stopgate log --decisions'")
	}
	w.data = given
	a, x, err := w.explain(ctx, &c.policyFlags, settings)
	if err != nil {
		return err
	}
	if x == nil {
		return hinted(errors.New("the call cannot be judged again: its arguments are not whole, or the policy here is another one"),
			"name the policy of then with --policy, or judge by this one: stopgate replay --policy FILE")
	}
	if format == "json" {
		err = writeJSON(s.out, struct {
			explanationJSON
			Gone    []string `json:"context_gone,omitempty"`
			Differs string   `json:"differs,omitempty"`
		}{explanationJSON{a, x.Recognised, x.NotKnown, traceOf(x.Trace), x.Lists, nil}, w.gone, w.differs})
	} else {
		_, err = io.WriteString(s.out, coloured(s.out, explainText(a, *x)+w.differenceText()))
	}
	if err != nil {
		return err
	}
	return a.status()
}
