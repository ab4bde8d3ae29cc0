package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/dryrun"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/jsonstream"
)

func NewReplay(s cli.Streams) *cobra.Command {
	var f inputs.Policy
	var failOn string
	cmd := &cobra.Command{
		Use:   "replay --policy NEW [LOG|STORE]",
		Short: "judge recorded calls by another policy and show which verdicts change",
		Long: `replay takes the calls of a log and judges them by the policy that --policy names.
No model is needed and nobody is asked. It compares what the rules said then with
what they say now; what people or a failure decided is not compared. Of a judge the
recorded probability is taken: the row says what another threshold would decide.

Results are part of the log as far as session policies look at them: whether one came,
and how it ended. What it said is not; a tool with a success rule counts as unknown.
Texts of sessions are kept where a policy says [flow] keep_text = true: calls then are
judged by the texts that their session had, read by the sources of the new policy. A
call whose verdict depends on texts that are not kept is not replayable.

A call whose arguments are not kept, or are not whole, is not replayable, and the
output says so. Records of JSON Lines files hold no arguments; the store does.

Exit: 0; with --fail-on 3 if a verdict was loosened, or changed at all.`,
		Example: `  stopgate replay --policy new.toml
  stopgate replay --policy new.toml --fail-on loosened stopgate.db`,
		Args: cli.AtMostOne,
	}
	f.Add(cmd)
	cmd.Flags().StringVar(&failOn, "fail-on", "", "exit with 3 if a verdict was `loosened`, or with \"any\" change")
	cli.CompleteFlag(cmd, "fail-on", "loosened", "any")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if failOn != "" && failOn != "loosened" && failOn != "any" {
			return cli.Usagef("--fail-on knows loosened and any, not %q", failOn)
		}
		if len(f.Files) == 0 {
			return cli.Usagef("name the policy to judge by with --policy NEW")
		}
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		l, err := f.Load(s.Err)
		if err != nil {
			return err
		}
		log, err := (&inputs.Records{}).OpenNamed(cmd, args)
		if err != nil {
			return err
		}
		defer log.Close()
		progress := cli.StartProgress(s, "judging", "calls again", 0)
		r, err := replayLog(ctx, l, log, progress)
		progress.End()
		if err != nil {
			return err
		}
		err = format.Print(s.Out, r, r.text())
		if err == nil && (failOn == "any" && len(r.Changes) > 0 || failOn == "loosened" && r.Loosened > 0) {
			return cli.Exit(cli.ExitMistakes)
		}
		return err
	}
	return cmd
}

// replayJSON is the answer of replay; it changes only by addition.
type replayJSON struct {
	Policy    string         `json:"policy"` // hash of the policy that judged now
	Calls     int            `json:"calls"`
	Replayed  int            `json:"replayed"`
	Loosened  int            `json:"loosened"`
	Tightened int            `json:"tightened"`
	Changes   []replayChange `json:"changes"`
	// Unreplayable counts calls that could not be judged again, by reason.
	Unreplayable map[string]int `json:"unreplayable"`

	// Incomplete counts calls that were judged again without all that was known then.
	Incomplete int `json:"incomplete,omitempty"`

	incomplete string // the first of them, and the fact that is not known
	programs   map[string]*policy.Program
	program    *policy.Program // the one in force
	texts      keptTexts
	seen       *dryrun.Seen // the texts of the call at hand
	current    string       // key of the program in force
	now        time.Time    // of the row at hand
	released   map[stopgate.ProposalID]released
}

// replayChange is one call whose verdict is another one now.
type replayChange struct {
	Seq       int64               `json:"seq"`
	ID        stopgate.ProposalID `json:"id"`
	Session   stopgate.SessionID  `json:"session,omitempty"`
	Tool      stopgate.ToolName   `json:"tool"`
	Direction string              `json:"direction"` // loosened or tightened
	Was       replayVerdict       `json:"was"`
	Would     replayVerdict       `json:"would"`
}

type replayVerdict struct {
	Mode stopgate.Mode `json:"mode"`
	Code stopgate.Code `json:"code"`
	Rule *dryrun.Rule  `json:"rule"`
}

// Why a call cannot be judged again.
const (
	notKept    = "arguments not kept"
	notWhole   = "arguments not whole"
	redacted   = "arguments redacted"
	changed    = "its stored arguments were changed"
	notByRules = "not decided by the policy"
	notJudged  = "no judge's answer recorded"
	noTexts    = "texts of the session not kept"
	lessTexts  = "texts of the session redacted"
)

// replayLog judges the decisions of a log in their order.
func replayLog(ctx context.Context, l inputs.Loaded, log *records.Log, progress *cli.Progress) (*replayJSON, error) {
	r := &replayJSON{Policy: l.Program.Hash(), Changes: []replayChange{}, Unreplayable: map[string]int{}, released: map[stopgate.ProposalID]released{}}
	// The clock is the log's, so that spans of time are the recorded ones.
	r.texts.log, r.seen = log, new(dryrun.Seen)
	j, err := dryrun.NewSeeing(l, r.seen, gate.WithClock(func() time.Time { return r.now }))
	if err != nil {
		return nil, err
	}
	var failed error
	_, err = log.Rows(ctx, records.Mark{}, nil, func(row records.Row) bool {
		r.now = row.Time
		switch {
		case row.Kind == stopgate.RecordDecision:
			r.Calls++
			progress.Add(1)
			failed = r.judge(ctx, j, l, log, &row)
		case row.Event == stopgate.AuditResult:
			failed = r.result(ctx, j, &row.Record)
		}
		return failed == nil && ctx.Err() == nil
	})
	return r, cmp.Or(err, failed, ctx.Err())
}

// released is a call that ran, and runs again.
type released struct {
	id   stopgate.ProposalID
	call stopgate.Call
}

// result lets the session know of a result, as far as the log does: whether there was
// one, and how it ended.
func (r *replayJSON) result(ctx context.Context, j dryrun.Decider, row *stopgate.Record) error {
	was, ok := r.released[row.ID]
	if !ok {
		return nil
	}
	delete(r.released, row.ID)
	unknown := strings.HasSuffix(row.Cause, ", unknown")
	_, err := j.Gate.Observe(ctx, stopgate.Result{
		Proposal: was.id, Call: was.call.ID, Session: was.call.Session, Principal: was.call.Principal, Tool: was.call.Tool,
		Failed: strings.HasSuffix(row.Cause, ", failed"), Flagged: !unknown, Observed: strings.HasPrefix(row.Cause, "observed") && !unknown,
	})
	if errors.Is(err, gate.ErrUnmatched) {
		return nil
	}
	return err
}

// judge judges one call again.
func (r *replayJSON) judge(ctx context.Context, j dryrun.Decider, l inputs.Loaded, log *records.Log, row *records.Row) error {
	was, ok := ruled(&row.Record)
	if !ok {
		r.Unreplayable[notByRules]++
		return nil
	}
	if row.ArgsHash == "" {
		r.Unreplayable[notWhole]++
		return nil
	}
	kept, ok, err := log.Arguments(ctx, &row.Record)
	switch {
	case err != nil:
		return err
	case !ok:
		r.Unreplayable[notKept]++
		return nil
	case kept.Redacted != nil:
		r.Unreplayable[redacted]++
		return nil
	case kept.Changed:
		r.Unreplayable[changed]++
		return nil
	}
	then, err := r.under(j, l, &row.Record, kept.Text)
	if err != nil {
		return err
	}
	call := then.callOf(&row.Record, kept.Text, l.Tools)
	if l.Program.LooksAtSessions() {
		then.then(&row.Record, noData) // a row does not have the session's data
	}
	if len(then.gone) > 0 {
		if r.Incomplete++; r.incomplete == "" {
			r.incomplete = fmt.Sprintf("%s: %s", row.ID, then.gone[0])
		}
	}
	missing, err := r.see(ctx, &row.Record)
	if err != nil {
		return err
	}
	var v stopgate.Verdict
	if row.Status == stopgate.StatusAllowed || row.Status == stopgate.StatusObserved {
		var id stopgate.ProposalID
		if v, id, err = j.Release(ctx, call, kept.Text); id != "" {
			r.released[row.ID] = released{id, call}
		}
	} else {
		v, err = j.Decide(ctx, call, kept.Text)
	}
	if err != nil {
		return fmt.Errorf("replay row %d: %w", row.Seq, err)
	}
	if missing != "" && dependsOnTexts(r.program, call, kept.Text) {
		r.Unreplayable[missing]++
		return nil
	}
	if v, ok = reviewed(v, row, l.Program); !ok {
		r.Unreplayable[notJudged]++
		return nil
	}
	if v, ok = answered(v, row, l.Program); !ok {
		r.Unreplayable[notAnswered]++
		return nil
	}
	r.Replayed++
	if v.Mode == was.Mode {
		return nil
	}
	now := replayVerdict{Mode: v.Mode, Code: v.Code}
	if v.Rule != nil {
		now.Rule = &dryrun.Rule{File: v.Rule.File, Line: v.Rule.Line, Index: v.Rule.Index}
	}
	direction := "tightened"
	if stopgate.Strictest(v.Mode, was.Mode) == was.Mode {
		direction = "loosened"
		r.Loosened++
	} else {
		r.Tightened++
	}
	r.Changes = append(r.Changes, replayChange{
		Seq: row.Seq, ID: row.ID, Session: row.Session, Tool: row.Tool, Direction: direction, Was: was, Would: now,
	})
	return nil
}

// noData are the data of a session without any.
var noData, _ = jsonstream.Parse([]byte("{}"), jsonstream.Options{})

// maxSettings bounds how many programs are kept, one for each setting of calls.
const maxSettings = 64

// under puts the policy into force as it is in the setting of a recorded call.
func (r *replayJSON) under(j dryrun.Decider, l inputs.Loaded, row *stopgate.Record, args []byte) (setting, error) {
	s := settingOf(row, args, config.Account{})
	key := s.key()
	if key == r.current {
		return s, nil
	}
	program := r.programs[key]
	if program == nil {
		own := l
		if err := s.compile(&own); err != nil {
			return s, err
		}
		if program = own.Program; r.programs == nil || len(r.programs) >= maxSettings {
			r.programs = map[string]*policy.Program{}
		}
		r.programs[key] = program
	}
	r.current, r.program = key, program
	return s, j.Gate.Swap(dryrun.Seeing(program, r.seen))
}

// see takes the texts that the session of a recorded call had. missing is why they are not known,
// "" if they are or if the policy needs none.
func (r *replayJSON) see(ctx context.Context, row *stopgate.Record) (missing string, err error) {
	r.seen.Texts = nil
	reader := r.program.Reader()
	if reader == nil {
		return "", nil
	}
	r.seen.Texts, missing, err = r.texts.view(ctx, reader, row.Texts)
	return missing, err
}

// ruled is the verdict of a row as far as the policy and its judge gave it. A declined or
// expired question was an ask; a failure has no verdict of theirs.
func ruled(r *stopgate.Record) (v replayVerdict, ok bool) {
	if r.Mode == nil {
		return v, false
	}
	v = replayVerdict{Mode: *r.Mode, Code: r.Code}
	if r.Rule != nil {
		v.Rule = &dryrun.Rule{File: r.Rule.File, Line: r.Rule.Line, Index: r.Rule.Index}
	}
	switch r.Layer {
	case stopgate.LayerApproval:
		v.Mode = stopgate.Ask
		return v, r.Code != stopgate.CodeClientGone && r.Code != stopgate.CodeApprovalStale
	case stopgate.LayerJudge:
		return v, r.Judge != nil && r.Judge.Probability != nil
	case stopgate.LayerFailure:
		return v, false
	}
	return v, true
}

// reviewed is a verdict after the judges of a policy, which decide as recorded: the recorded
// probability against their threshold. It is not ok if the policy wants a judge and no answer is
// recorded.
func reviewed(v stopgate.Verdict, row *records.Row, p *policy.Program) (stopgate.Verdict, bool) {
	if v.Terminal() || !p.Judged(row.Tool) {
		return v, true
	}
	if row.Judge == nil || row.Judge.Probability == nil {
		return v, false
	}
	for _, j := range p.Judges() {
		if *row.Judge.Probability < j.Threshold || stopgate.Strictest(v.Mode, j.Mode) == v.Mode {
			continue
		}
		v.Mode, v.Layer, v.Code, v.Public = j.Mode, stopgate.LayerJudge, stopgate.CodeJudgeDenied, stopgate.CodeJudgeDenied.Public()
	}
	return v, true
}
