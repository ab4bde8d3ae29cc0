package inspect

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/visible"
)

func NewReport(s cli.Streams) *cobra.Command {
	var f inputs.Records
	var since, until string
	cmd := &cobra.Command{
		Use:   "report [FILE]",
		Short: "say how often people are asked, by which rules, and what would save it",
		Long: `report counts in the records how many of a hundred calls somebody was asked about,
which rules asked, and how people answered. Where one reason was always approved it
proposes a rule, where a session repeats a call a grant ('a' at the terminal).

Whoever is asked too often stops reading: this is the number to keep small.`,
		Example: `  stopgate report --since 7d`,
		Args:    cli.AtMostOne,
	}
	f.Add(cmd)
	cmd.Flags().StringVar(&since, "since", "", "from a `TIME` on: 2026-11-21, or a span back from now: 24h, 7d")
	cmd.Flags().StringVar(&until, "until", "", "before a `TIME`")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		filter, err := (&listFlags{since: since, until: until}).filter(time.Now())
		if err != nil {
			return err
		}
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		log, err := f.OpenNamed(cmd, args)
		if err != nil {
			return err
		}
		defer log.Close()
		p, err := prompts(ctx, log, filter)
		if err != nil {
			return err
		}
		answer := reportJSON{p.First, p.Last, p.Calls, p.Asked, p.Approved, p.Referred, p.Ran, p.Unasked, p.Granted, p.Repeated, p.PerHundred(), p.Rules()}
		return format.Print(s.Out, answer, promptsText(p))
	}
	return cmd
}

// reportJSON is the answer of report; it changes only by addition.
type reportJSON struct {
	First    time.Time        `json:"first,omitzero"`
	Last     time.Time        `json:"last,omitzero"`
	Calls    int              `json:"calls"`
	Asked    int              `json:"asked"`
	Approved int              `json:"approved"`
	Referred int              `json:"referred"`
	Ran      int              `json:"ran"`
	Unasked  int              `json:"unasked"`
	Granted  int              `json:"granted"`
	Repeated int              `json:"repeated"`
	Hundred  float64          `json:"per_hundred"`
	Rules    []records.Asking `json:"rules"`
}

func prompts(ctx context.Context, log *records.Log, filter records.Filter) (*records.Prompts, error) {
	p := new(records.Prompts)
	_, err := log.Rows(ctx, records.Mark{}, &filter, func(r records.Row) bool {
		p.Add(&r.Record)
		return ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return p, err
}

func promptsText(p *records.Prompts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.1f prompts per 100 calls: %d of %d calls were asked about, %d approved; grants answered %d\n", p.PerHundred(), p.Asked, p.Calls, p.Approved, p.Granted)
	if p.Referred > 0 {
		fmt.Fprintf(&b, "%d of them were left to the prompt of the agent's own program, whose answer is not heard; results of %d of these were seen\n", p.Referred, p.Ran)
	}
	if p.Unasked > 0 {
		fmt.Fprintf(&b, "%d more needed an answer while nobody could give one, and were denied: stopgate log --code no_approver\n", p.Unasked)
	}
	if p.Asked == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "  %5s  %8s  %8s  %s\n", "asked", "approved", "repeated", "tool, why, and the newest of them")
	for _, r := range p.Rules() {
		where := ""
		if r.File != "" {
			where = fmt.Sprintf(" %s:%d", visible.Text(r.File), r.Line)
		}
		fmt.Fprintf(&b, "  %5d  %8d  %8d  %s  %s%s, %s\n", r.Asked, r.Approved, r.Repeated, visible.Text(string(r.Tool)), r.Code, where, visible.Text(string(r.Example)))
		if r.Referred > 0 {
			fmt.Fprintf(&b, "                             %d left to the host, results of %d of these were seen\n", r.Referred, r.Ran)
		}
		switch r.Propose {
		case "rule":
			all, where := "approved", ""
			if r.Ran > 0 {
				all = "approved, or ran"
			}
			switch {
			case r.File == config.StarterPath:
				where = ", in a policy of yours (stopgate init)"
			case r.File != "":
				where = fmt.Sprintf(", above line %d", r.Line)
			}
			fmt.Fprintf(&b, "                             all of them were %s: a rule can say so%s; stopgate log show %s is the newest,\n", all, where, visible.Text(string(r.Example)))
			b.WriteString("                             stopgate replay --policy FILE says what FILE with that rule would change\n")
		case "grant":
			b.WriteString("                             a session repeats what was approved: a grant would have answered (a at the terminal)\n")
		}
	}
	return b.String()
}
