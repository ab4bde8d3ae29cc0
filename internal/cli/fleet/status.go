package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/bundles"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/visible"
)

// silent is how long after its last report a gate counts as gone: it reports every few seconds.
const silent = time.Minute

func newStatus(s cli.Streams) *cobra.Command {
	var f inputs.Store
	var fleet bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "show which bundle is in force, and what the channel has",
		Long: `status shows the bundle that is in force on this machine and the newest one of its channel.
With --fleet it lists the gates that share the store: which bundle each of them runs, and since
when.

Exit: 0, or 1 if the newest bundle of the channel is not in force here.`,
		Example: `  stopgate bundle status
  stopgate bundle status --fleet --format json`,
		Args: cli.NoArgs,
	}
	f.Add(cmd)
	cmd.Flags().BoolVar(&fleet, "fleet", false, "list the gates of the store")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if fleet {
			store, err := f.Open(cmd)
			if err != nil {
				return err
			}
			gates, err := store.Gates(cmd.Context())
			if err = errors.Join(err, store.Close()); err != nil {
				return err
			}
			return cli.PrintList(s, *format, gates, "no gate of this store reported a policy bundle", func(g backend.GateState) string { return gateLine(g, time.Now()) })
		}
		return status(cmd.Context(), s, *format, f.Files)
	}
	return cmd
}

// gateLine describes a gate.
func gateLine(g backend.GateState, now time.Time) string {
	text := fmt.Sprintf("%s  generation %d  %.12s  since %s", visible.Text(g.Name), g.Bundle.Generation, g.Bundle.Digest, g.Since.Local().Format(time.DateTime))
	if g.Canary != "" {
		text += "  canary " + visible.Text(g.Canary)
	}
	if ago := now.Sub(g.Seen); ago > silent {
		text += fmt.Sprintf("  not seen for %s", ago.Round(time.Second))
	}
	if g.Refused != "" {
		text += "  refused the newest: " + visible.Text(g.Refused)
	}
	return text
}

// statusJSON is the answer of status; it changes only by addition.
type statusJSON struct {
	Channel string     `json:"channel"`
	InForce *answer    `json:"in_force"`
	Since   *time.Time `json:"since,omitempty"`
	Checked *time.Time `json:"checked,omitempty"`
	Stale   bool       `json:"stale"`
	Newest  *answer    `json:"newest,omitempty"`
	Trouble string     `json:"trouble,omitempty"`
}

func status(ctx context.Context, s cli.Streams, format cli.Format, files []string) error {
	set, tables, err := inputs.OperatorTables(files)
	if err != nil {
		return err
	}
	if tables["policy"] == nil {
		return cli.Hinted(errors.New("no policy file of the operator has a table [policy]"), "name the file of the gate with --policy")
	}
	settings, mistakes := bundles.Read(tables["policy"])
	if mistakes.HasErrors() {
		return config.MistakesError{List: mistakes, Set: set}
	}
	k, err := bundles.New(settings, config.Account{}, nil)
	if err != nil {
		return err
	}
	have, err := k.Status()
	if err != nil {
		return err
	}
	a := statusJSON{Channel: settings.Channel, Stale: have.Stale}
	var text strings.Builder
	fmt.Fprintf(&text, "channel   %s\n", visible.Text(settings.Channel))
	if have.Bundle != nil {
		in := answerOf(have.Bundle)
		a.InForce, a.Since, a.Checked = &in, &have.Since, &have.Checked
		fmt.Fprintf(&text, "in force  %s, since %s\n", line(have.Bundle), have.Since.Local().Format(time.DateTime))
	} else {
		fmt.Fprintln(&text, "in force  none")
	}
	if have.Stale {
		fmt.Fprintf(&text, "too old   the channel was last read %s\n", have.Checked.Local().Format(time.DateTime))
	}
	var there *bundle.Bundle
	c, err := inputs.OpenChannel(settings.Channel, settings.TokenEnv, settings.TokenFile)
	if err == nil {
		there, err = newest(ctx, c, settings.Keys)
	}
	switch {
	case err != nil:
		a.Trouble = err.Error()
		fmt.Fprintf(&text, "trouble   %s\n", visible.Text(a.Trouble))
	case there == nil:
		fmt.Fprintln(&text, "newest    none")
	default:
		newest := answerOf(there)
		a.Newest = &newest
		fmt.Fprintf(&text, "newest    %s\n", line(there))
	}
	if err := format.Print(s.Out, a, text.String()); err != nil {
		return err
	}
	if have.Bundle == nil || there == nil || there.Digest != have.Bundle.Digest {
		return cli.Exit(cli.ExitTrouble)
	}
	return nil
}
