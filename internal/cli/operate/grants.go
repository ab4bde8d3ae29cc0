package operate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/visible"
)

func NewGrants(s cli.Streams) *cobra.Command {
	cmd := cli.Group("grants", "see and take back what was answered for the future", newGrantsList(s))
	cmd.Example = "  stopgate grants --all\n  stopgate grants revoke ID"
	cmd.AddCommand(newGrantsRevoke(s))
	return cmd
}

func newGrantsList(s cli.Streams) *cobra.Command {
	var f inputs.Store
	var all bool
	cmd := &cobra.Command{Use: "list", Short: "list grants, the newest first", Args: cli.NoArgs}
	f.Add(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "those that were revoked, used up or are over, too")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withQueue(cmd, &f, func(_ backend.Store, queue *approve.Queue) error {
			filter := approve.GrantFilter{Live: time.Now()}
			if all {
				filter = approve.GrantFilter{}
			}
			list, err := queue.Grants(cmd.Context(), filter)
			if err != nil {
				return err
			}
			return cli.PrintList(s, *format, list, "no grants", grantLine)
		})
	}
	return cmd
}

// grantLine is a grant in one line: for which calls, and for how long.
func grantLine(g approve.Grant) string {
	var values []string
	for _, v := range g.Values {
		switch v.How {
		case approve.Free:
			values = append(values, visible.Text(v.Pointer)+" free")
		case approve.Open:
			values = append(values, visible.Text(v.Pointer)+" any")
		case approve.Equal:
			values = append(values, visible.Text(v.Pointer)+" = "+visible.Elide(visible.Text(v.Text), 40))
		default:
			values = append(values, visible.Text(v.Pointer)+" "+string(v.How)+" "+visible.Elide(visible.Text(v.Text), 40))
		}
	}
	where := "all sessions"
	if g.Session != "" {
		where = "session " + visible.Elide(visible.Text(string(g.Session)), 24)
	}
	state := "until " + g.Expires.Local().Format("2006-01-02 15:04")
	if !g.Revoked.IsZero() {
		state = "revoked"
	}
	uses := fmt.Sprintf("used %d", g.Uses)
	if g.Limit > 0 {
		uses += fmt.Sprintf(" of %d", g.Limit)
	}
	return fmt.Sprintf("%s  %s  %s  %s  %s  %s  by %s", g.ID, visible.Text(string(g.Tool)), strings.Join(values, ", "), where, state, uses, visible.Text(g.By))
}

func newGrantsRevoke(s cli.Streams) *cobra.Command {
	var f inputs.Store
	cmd := &cobra.Command{
		Use: "revoke ID...", Short: "take grants back",
		SuggestFor: []string{"delete", "remove", "rm"},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s takes the ids of grants, as 'stopgate grants list' prints them", cmd.CommandPath())
			}
			return nil
		},
	}
	f.Add(cmd)
	f.CompleteGrants(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withQueue(cmd, &f, func(_ backend.Store, queue *approve.Queue) error {
			for _, id := range args {
				g, err := queue.Revoke(cmd.Context(), id)
				if errors.Is(err, approve.ErrUnknown) {
					return cli.Hinted(fmt.Errorf("there is no grant %q", id), "stopgate grants list prints those that hold")
				}
				if err != nil {
					return err
				}
				if err := format.Print(s.Out, g, g.ID+"  revoked\n"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return cmd
}
