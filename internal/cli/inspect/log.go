package inspect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/visible"
)

func NewLog(s cli.Streams) *cobra.Command {
	var f inputs.Records
	var list listFlags
	cmd := &cobra.Command{
		Use:   "log",
		Short: "read the records of what was decided",
		Long: `log lists the records of a gate: one line for each for people, the rows themselves
as JSON Lines for programs. It reads beside a gate that is running.

Without --store and --audit it reads the records that up would write here.`,
		Example: `  stopgate log --tool 'fs_*' --mode deny --since 24h
  stopgate log --rule stopgate.toml:14 -n 20
  stopgate log --follow
  stopgate log show 01KB3T...
  stopgate log verify --head "$(cat head.txt)"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UnknownCommand(cmd, args[0])
			}
			return nil
		},
	}
	f.Add(cmd)
	list.add(cmd)
	f.RuleFlag(cmd, &list.rules, "rows of a `RULE`: its id, or FILE:LINE in the policy here")
	for flag, value := range rowValues {
		f.CompleteRows(cmd, flag, value)
	}
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		filter, err := list.filter(time.Now())
		if err == nil {
			filter.Rules, err = inputs.RuleIDs(f.Files, list.rules)
		}
		if err != nil {
			return err
		}
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		log, _, err := f.Open(ctx)
		if err != nil {
			return err
		}
		defer log.Close()
		if list.wouldDeny {
			return wouldDeny(ctx, s.Out, log, filter, *format)
		}
		return listRows(ctx, s.Out, log, filter, &list, *format)
	}
	cmd.AddCommand(newLogShow(s), newLogVerify(s), newLogHead(s), newLogExport(s), newLogPrune(s), newLogRestored(s))
	return cmd
}

// rowValues are the values of rows with which flags are completed.
var rowValues = map[string]func(*stopgate.Record) string{
	"session":   func(r *stopgate.Record) string { return string(r.Session) },
	"agent":     func(r *stopgate.Record) string { return string(r.Agent) },
	"principal": func(r *stopgate.Record) string { return string(r.Principal) },
	"tool":      func(r *stopgate.Record) string { return string(r.Tool) },
	"code":      func(r *stopgate.Record) string { return string(r.Code) },
}

// listFlags choose rows.
type listFlags struct {
	session, agent, principal    string
	gate                         string
	surface, tool                string
	modes, codes, status, events []string
	rules                        []string
	since, until                 string
	last                         int64
	decisions, follow, wouldDeny bool
}

func (f *listFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.session, "session", "", "rows of one session `ID`")
	flags.StringVar(&f.agent, "agent", "", "rows of one agent `NAME`")
	flags.StringVar(&f.principal, "principal", "", "rows of one principal `NAME`: whose token it was")
	flags.StringVar(&f.gate, "gate", "", "rows of one gate `NAME`, of a store of several gates")
	flags.StringVar(&f.surface, "surface", "", "rows of one surface: gateway, hook, mcp, agent, decide, library")
	flags.StringVar(&f.tool, "tool", "", "rows of tools by `NAME` or glob")
	flags.StringSliceVar(&f.modes, "mode", nil, "decisions of a `MODE`: unattended, ask, edit, skip, deny")
	flags.StringSliceVar(&f.codes, "code", nil, "rows with a reason `CODE`")
	flags.StringSliceVar(&f.status, "status", nil, "decisions that ended so: allowed, denied, skipped, cancelled, truncated, edited, observed")
	flags.StringSliceVar(&f.events, "event", nil, "event rows of a `NAME`: asked, result, stopped, gap, ...")
	flags.StringVar(&f.since, "since", "", "rows from a `TIME` on: 2026-11-21, 2026-11-21T10:00:00Z, or a span back from now: 90m, 24h, 7d")
	flags.StringVar(&f.until, "until", "", "rows before a `TIME`")
	flags.BoolVar(&f.decisions, "decisions", false, "leave out event rows")
	flags.Int64VarP(&f.last, "last", "n", 0, "only the newest `N` of the rows that the filters let through")
	flags.BoolVarP(&f.follow, "follow", "f", false, "go on with rows as they are written, until interrupted")
	flags.BoolVar(&f.wouldDeny, "would-deny", false, "sum up by tool and rule what observe mode let pass and enforcing would hold back")
	cli.CompleteFlag(cmd, "surface", cli.Words(rowSurfaces)...)
	cli.CompleteFlag(cmd, "mode", modeNames()...)
	cli.CompleteFlag(cmd, "status", cli.Words(rowStatuses)...)
	cli.CompleteFlag(cmd, "event", cli.Words(rowEvents)...)
}

func modeNames() (names []string) {
	for _, mode := range []stopgate.Mode{stopgate.Unattended, stopgate.Ask, stopgate.Edit, stopgate.Skip, stopgate.Deny} {
		names = append(names, mode.String())
	}
	return names
}

func (f *listFlags) filter(now time.Time) (r records.Filter, err error) {
	r = records.Filter{
		Session: stopgate.SessionID(f.session), Agent: stopgate.AgentName(f.agent), Principal: stopgate.Principal(f.principal), Gate: f.gate, Surface: stopgate.Surface(f.surface), Decisions: f.decisions,
	}
	if f.tool != "" {
		if r.Tool, err = glob.ParseName(f.tool); err != nil {
			return r, cli.Usagef("--tool: %w", err)
		}
	}
	for _, m := range f.modes {
		mode, err := stopgate.ParseMode(m)
		if err != nil {
			return r, cli.Usagef("--mode: %w", err)
		}
		r.Modes = append(r.Modes, mode)
	}
	for _, c := range f.codes {
		r.Codes = append(r.Codes, stopgate.Code(c))
	}
	if r.Status, err = known("--status", f.status, rowStatuses); err != nil {
		return r, err
	}
	if r.Events, err = known("--event", f.events, rowEvents); err != nil {
		return r, err
	}
	if f.surface != "" {
		if _, err = known("--surface", []string{f.surface}, rowSurfaces); err != nil {
			return r, err
		}
	}
	if r.Since, err = parseTime(f.since, now); err != nil {
		return r, cli.Usagef("--since: %w", err)
	}
	if r.Until, err = parseTime(f.until, now); err != nil {
		return r, cli.Usagef("--until: %w", err)
	}
	if f.last < 0 {
		return r, cli.Usagef("--last counts rows, not %d", f.last)
	}
	return r, nil
}

// The values by which rows are filtered.
var (
	rowStatuses = []stopgate.RecordStatus{
		stopgate.StatusAllowed, stopgate.StatusDenied, stopgate.StatusSkipped, stopgate.StatusCancelled, stopgate.StatusTruncated,
		stopgate.StatusEdited, stopgate.StatusObserved,
	}
	rowEvents = []stopgate.AuditEvent{
		stopgate.AuditAsked, stopgate.AuditAnswered, stopgate.AuditResult, stopgate.AuditReleaseFailed, stopgate.AuditReload,
		stopgate.AuditSnapshot, stopgate.AuditRestored, stopgate.AuditReconciled, stopgate.AuditLockdown, stopgate.AuditLifted,
		stopgate.AuditStopped, stopgate.AuditAnswerStopped, stopgate.AuditNotEvaluated, stopgate.AuditUnmatchedResult, stopgate.AuditGap, stopgate.AuditTornTail,
		stopgate.AuditCheckpoint,
	}
	rowSurfaces = []stopgate.Surface{
		stopgate.SurfaceGateway, stopgate.SurfaceHook, stopgate.SurfaceMCP, stopgate.SurfaceAgent, stopgate.SurfaceDecide, stopgate.SurfaceLibrary,
	}
)

// known reads the words of a flag; one that is spelled wrong would find no row.
func known[T ~string](flag string, words []string, list []T) (some []T, err error) {
	for _, w := range words {
		if !slices.Contains(list, T(w)) {
			return nil, cli.Usagef("%s: there is no %q; there are %s", flag, w, strings.Join(cli.Words(list), ", "))
		}
		some = append(some, T(w))
	}
	return some, nil
}

// parseTime reads a day, a time, or a span back from now. "" is the zero time.
func parseTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err == nil && fmt.Sprint(n) == days && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if span, err := time.ParseDuration(text); err == nil && span >= 0 {
		return now.Add(-span), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write 2026-11-21, 2026-11-21T10:00:00Z, 90m, 24h or 7d", text)
}

// followEvery is how often a followed log is looked at.
const followEvery = 200 * time.Millisecond

// listRows writes rows, and with follow also new ones.
func listRows(ctx context.Context, w io.Writer, log *records.Log, filter records.Filter, f *listFlags, format cli.Format) error {
	out := bufio.NewWriter(w)
	var after records.Mark
	if f.last > 0 {
		rows, end, err := log.Newest(ctx, f.last, &filter)
		for _, r := range rows {
			err = errors.Join(err, writeRow(ctx, w, out, log, r, format))
		}
		if err != nil || !f.follow {
			return errors.Join(err, out.Flush())
		}
		after = end
	}
	for {
		var failed error
		end, err := log.Rows(ctx, after, &filter, func(r records.Row) bool {
			failed = writeRow(ctx, w, out, log, r, format)
			return failed == nil
		})
		if ctx.Err() != nil && f.follow {
			return out.Flush()
		}
		if err := errors.Join(err, failed, out.Flush()); err != nil || !f.follow {
			return err
		}
		after = end
		select {
		case <-time.After(followEvery):
		case <-ctx.Done():
			return nil
		}
	}
}

func writeRow(ctx context.Context, w io.Writer, out *bufio.Writer, log *records.Log, r records.Row, format cli.Format) error {
	if format == "json" {
		out.Write(r.Line)
		return out.WriteByte('\n')
	}
	called := ""
	if r.Kind != stopgate.RecordEvent {
		kept, ok, err := log.Arguments(ctx, &r.Record)
		if err != nil {
			return err
		}
		if ok {
			called = calledWith(kept.Text)
		}
	}
	_, err := out.WriteString(cli.Coloured(w, rowText(&r.Record, called)+"\n"))
	return err
}

// whose reports whether a principal is worth a column: "local" is every client without a token
// on this machine.
func whose(p stopgate.Principal) bool { return p != "" && p != "local" }

// isReferred reports that the program that runs the tool asks its user; the gate does not see
// the answer, only a result.
func isReferred(r *stopgate.Record) bool { return r.Approval != nil && r.Approval.Referred }

// rowText is a row for people: time, outcome, tool, reason, and the id to show it by. called
// describes the call, "" if it is not known.
func rowText(r *stopgate.Record, called string) string {
	what := string(r.Status)
	if r.Kind == stopgate.RecordEvent {
		what = string(r.Event)
		if r.Event == stopgate.AuditAnswered && r.Approval != nil && r.Approval.By == "" {
			what = "not answered"
		}
	} else if r.Status == stopgate.StatusObserved && r.Mode != nil {
		what = "would " + r.Mode.String()
	} else if isReferred(r) {
		what = "left to host"
	}
	parts := []string{r.Time.Local().Format("2006-01-02 15:04:05"), fmt.Sprintf("%-16s", what), fmt.Sprintf("%-20s", visible.Text(string(r.Tool)))}
	if called != "" {
		parts = append(parts, called)
	}
	if r.Code != "" {
		parts = append(parts, string(r.Code))
	}
	if r.Pointer != "" {
		parts = append(parts, visible.Text(r.Pointer))
	}
	if r.Rule != nil {
		parts = append(parts, fmt.Sprintf("%s:%d", visible.Text(r.Rule.File), r.Rule.Line))
	}
	switch {
	case r.Approval == nil:
	case isReferred(r):
		parts = append(parts, "asked by "+visible.Text(r.Approval.By)+", answer not heard")
	case r.Approval.By == "": // not answered
	default:
		parts = append(parts, "by "+visible.Text(r.Approval.By))
	}
	if r.Kind == stopgate.RecordEvent && r.Cause != "" {
		parts = append(parts, visible.Text(r.Cause))
	}
	if r.Count > 0 {
		parts = append(parts, fmt.Sprintf("count %d", r.Count))
	}
	if r.Bundle != nil {
		parts = append(parts, fmt.Sprintf("bundle %d", r.Bundle.Generation))
	}
	if r.Session != "" {
		parts = append(parts, "session "+visible.Text(string(r.Session)))
	}
	if whose(r.Principal) {
		parts = append(parts, "of "+visible.Text(string(r.Principal)))
	}
	if r.ID != "" {
		parts = append(parts, visible.Text(string(r.ID)))
	}
	return strings.TrimRight(strings.Join(parts, "  "), " ")
}

// wouldDenyJSON is the answer of --would-deny; it changes only by addition.
type wouldDenyJSON struct {
	Calls  int            `json:"calls"`
	Passed int            `json:"passed"`
	Held   []records.Held `json:"held"`
}

// wouldDeny sums up observe mode.
func wouldDeny(ctx context.Context, out io.Writer, log *records.Log, filter records.Filter, format cli.Format) error {
	var sum records.WouldDeny
	_, err := log.Rows(ctx, records.Mark{}, &filter, func(r records.Row) bool {
		sum.Add(&r.Record)
		return true
	})
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d calls were observed; %d would have run by themselves, %d would not\n", sum.Calls, sum.Passed, sum.Calls-sum.Passed)
	for _, h := range sum.Held() {
		where := ""
		if h.File != "" {
			where = fmt.Sprintf("  %s:%d", visible.Text(h.File), h.Line)
		}
		fmt.Fprintf(&b, "%7d  %-5s %-20s %s%s  newest %s\n", h.Calls, h.Mode, visible.Text(string(h.Tool)), h.Code, where, visible.Text(string(h.Example)))
	}
	return format.Print(out, wouldDenyJSON{sum.Calls, sum.Passed, sum.Held()}, b.String())
}
