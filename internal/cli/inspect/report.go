package inspect

import (
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
	var rules []string
	cmd := &cobra.Command{
		Use:   "report [FILE]",
		Short: "say how often people are asked, by which rules, and what would save it",
		Long: `report counts in the records how many of a hundred calls somebody was asked about,
which rules asked, and how people answered, each day and in total. Where one reason was always approved it
proposes a rule, where a session repeats a call a grant ('a' at the terminal). If a policy of
yours applies here, it names the three rules of stopgate learn that would save most.

Whoever is asked too often stops reading: this is the number to keep small.`,
		Example: `  stopgate report --since 7d
  stopgate report --rule stopgate.toml:14`,
		Args: cli.AtMostOne,
	}
	f.Add(cmd)
	cmd.Flags().StringVar(&since, "since", "", "from a `TIME` on: 2026-11-21, or a span back from now: 24h, 7d")
	cmd.Flags().StringVar(&until, "until", "", "before a `TIME`")
	f.RuleFlag(cmd, &rules, "only the calls that a `RULE` decided: its id, or FILE:LINE in the policy here")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		filter, err := (&listFlags{since: since, until: until}).filter(time.Now())
		if err == nil {
			filter.Rules, err = inputs.RuleIDs(f.Files, rules)
		}
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
		progress := cli.StartProgress(s, "reading", "rows", 0)
		p, err := log.Prompts(ctx, filter.Since, filter.Until, filter.Rules, progress.Add)
		progress.End()
		if err != nil {
			return err
		}
		answer := reportJSON{p.First, p.Last, p.Calls, p.Asked, p.Approved, p.Referred, p.Ran, p.Unasked, p.Granted, p.Repeated, p.PerHundred(), p.Rules(), p.Days(), p.Saving(), nil}
		if p.Asked > 0 && filter.Rules == nil { // what other rules refused is evidence, too
			answer.Learnable = learnableOf(ctx, log, filter, f.Files)
		}
		return format.Print(s.Out, answer, promptsText(p, answer.Learnable))
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
	Days     []records.Day    `json:"days"`
	Saving   []records.Asking `json:"saving"`
	// Learnable are the rules that stopgate learn would propose, where a policy of the person applies.
	Learnable *learnable `json:"learnable,omitempty"`
}

func promptsText(p *records.Prompts, rules *learnable) string {
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
	b.WriteString(daysText(p))
	saving := ""
	if rules != nil {
		saving = rules.text()
	}
	if saving == "" {
		saving = savingText(p)
	}
	b.WriteString(saving)
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

// maxDays bounds the days in the text: those before are in the JSON.
const maxDays = 14

// daysText is a table of the days, if there are several.
func daysText(p *records.Prompts) string {
	days := p.Days()
	if len(days) < 2 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %-10s  %6s  %6s  %8s  %7s  %s\n", "day", "calls", "asked", "approved", "granted", "per 100")
	for _, d := range days[max(0, len(days)-maxDays):] {
		fmt.Fprintf(&b, "  %s  %6d  %6d  %8d  %7d  %7.1f\n", d.Date, d.Calls, d.Asked, d.Approved, d.Granted, 100*float64(d.Asked)/float64(d.Calls))
	}
	return b.String()
}

// savingText lists what would have saved most questions.
func savingText(p *records.Prompts) string {
	list := p.Saving()
	if len(list) == 0 {
		return ""
	}
	total := 0
	for _, a := range list {
		total += a.Saves
	}
	var b strings.Builder
	fmt.Fprintf(&b, "would have saved most, %d of the %d questions:\n", total, p.Asked)
	for i, a := range list {
		what := "a rule that lets " + visible.Text(string(a.Tool)) + " run"
		if a.Propose == "grant" {
			what = "a grant for repeated calls of " + visible.Text(string(a.Tool))
		}
		where := string(a.Code)
		if a.File != "" {
			where = fmt.Sprintf("%s:%d", visible.Text(a.File), a.Line)
		}
		fmt.Fprintf(&b, "  %d. %d  %s (%s)\n", i+1, a.Saves, what, where)
	}
	return b.String()
}
