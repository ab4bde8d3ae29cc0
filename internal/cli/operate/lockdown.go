package operate

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/store/backend"
)

func NewLockdown(s cli.Streams) *cobra.Command {
	var f inputs.Store
	var reason string
	var lift, status bool
	cmd := &cobra.Command{
		Use:   "lockdown",
		Short: "deny every call at once, until it is lifted",
		Long: `lockdown denies every call of every gate that uses the store, those that wait for
an answer too, also after a restart. When the command returns it holds. Lifting it
needs a terminal with a person at it.`,
		Example: `  stopgate lockdown --reason "incident 7"
  stopgate lockdown --status
  stopgate lockdown --lift`,
		Args: cli.NoArgs,
	}
	f.Add(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` for the records")
	cmd.Flags().BoolVar(&lift, "lift", false, "take the lockdown back")
	cmd.Flags().BoolVar(&status, "status", false, "say whether there is one and do nothing else")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if lift && status || (lift || status) && reason != "" {
			return cli.Usagef("--lift, --status and --reason exclude each other")
		}
		return withQueue(cmd, &f, func(store backend.Store, _ *approve.Queue) error {
			now, err := store.Lockdown(cmd.Context())
			switch {
			case err != nil:
				return err
			case lift && now.Active():
				if err := confirm(", or over the decision API with a token of the scope operate", service.LockdownText(now)+"\n", "to lift it: ", "not lifted"); err != nil {
					return err
				}
				now, err = order(cmd.Context(), store, gate.Lockdown{})
			case !lift && !status:
				now, err = order(cmd.Context(), store, gate.Lockdown{Since: time.Now().UTC(), By: cli.Operator(), Reason: reason})
			}
			if err != nil {
				return err
			}
			answer := struct {
				Locked bool `json:"locked"`
				gate.Lockdown
			}{now.Active(), now}
			return format.Print(s.Out, answer, service.LockdownText(now)+"\n")
		})
	}
	return cmd
}

// order writes an order and its record, and waits until every gate has seen it.
func order(ctx context.Context, store backend.Store, l gate.Lockdown) (gate.Lockdown, error) {
	if err := store.SetLockdown(ctx, l); err != nil {
		return l, err
	}
	row := gate.LockdownRow(l, cli.Operator())
	row.Version, row.Kind, row.Time = stopgate.RecordVersion, stopgate.RecordEvent, time.Now().UTC()
	if err := store.Recorder().Record(ctx, &row); err != nil {
		return l, fmt.Errorf("the order holds, but is not on record: %w", err)
	}
	select {
	case <-time.After(3 * service.LockdownPoll):
	case <-ctx.Done():
	}
	return l, nil
}

// logOrder logs an order. It is a warning, which no usual level hides.
func (u *decisionRun) logOrder(l gate.Lockdown) {
	if !l.Active() {
		u.log.Warn("the lockdown is lifted")
		return
	}
	u.log.Warn("LOCKDOWN: every call is denied; lift it with: stopgate lockdown --lift", "since", l.Since, "by", l.By, "reason", l.Reason)
}

// loggedLockdowns logs each order of this process, as [gate.Gate.Follow] does for the others.
type loggedLockdowns struct {
	gate.Lockdowns
	log func(gate.Lockdown)
}

func (o loggedLockdowns) SetLockdown(ctx context.Context, l gate.Lockdown) error {
	err := o.Lockdowns.SetLockdown(ctx, l)
	if err == nil {
		o.log(l)
	}
	return err
}
