package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/dryrun"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// reviewText is a judge's answer on one line.
func reviewText(r *stopgate.Review) string {
	text := visible.Text(r.Model) + ": " + r.Mode.String()
	switch {
	case r.Fault != "":
		text += ", because it failed: " + visible.Text(r.Fault)
	case r.Probability != nil && r.Threshold != nil:
		text += fmt.Sprintf(", harmful with probability %.2f, objects from %.2f on", *r.Probability, *r.Threshold)
	}
	if r.Explanation != "" {
		text += ": " + visible.Text(r.Explanation)
	}
	if r.Cached {
		text += " (as before)"
	}
	return text
}

// showJSON is the answer of show; it changes only by addition.
type showJSON struct {
	ID        stopgate.ProposalID `json:"id"`
	Rows      []json.RawMessage   `json:"rows"`
	Arguments *string             `json:"arguments"` // as they were kept, null if they are not
	Redacted  []string            `json:"redacted,omitempty"`
	// Changed reports that the arguments are not those that were judged.
	Changed bool `json:"arguments_changed,omitempty"`
	// Data is the session's data under which the lists are explained, if rules look at it and it
	// is known.
	Data json.RawMessage `json:"session_data,omitempty"`
	// Lists explain the verdict rule by rule, if the policy of the record is the one
	// that holds here and the arguments are whole.
	Lists []eval.ListExplanation `json:"lists,omitempty"`
	// Gone lists the facts of the call's setting that are not known any more; Differs explains
	// why the verdict of the lists is another one than the record's.
	Gone    []string `json:"context_gone,omitempty"`
	Differs string   `json:"differs,omitempty"`
}

func newLogShow(s cli.Streams) *cobra.Command {
	var f inputs.Records
	var p inputs.Policy
	var data string
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "show one proposal: its rows, its arguments, and why",
		Long: `show prints everything that is known of one proposal. If the policy that decided is
the one that holds here, it also explains the verdict rule by rule, under the data that
the session had then, as the store says.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("%s takes the id of one proposal, as 'stopgate log' prints it", cmd.CommandPath())
			}
			return nil
		},
	}
	f.Add(cmd)
	f.CompleteProposals(cmd)
	inputs.ToolsFlag(cmd, &p.Tools, ", for the explanation")
	cmd.Flags().StringVar(&data, "session-data", "", "the session's data as a `JSON` object, for the explanation (default: what the store says it was)")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p.Files = f.Files
		ctx := cmd.Context()
		given, err := dryrun.SessionData(data)
		if err != nil {
			return err
		}
		log, settings, err := f.Open(ctx)
		if err != nil {
			return err
		}
		defer log.Close()
		rows, err := log.Of(ctx, stopgate.ProposalID(args[0]))
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return cli.Hinted(fmt.Errorf("no record is about %q", args[0]), "ids are at the end of the lines of 'stopgate log'")
		}
		show, err := NewShow(ctx, log, rows)
		if err != nil {
			return err
		}
		show.Data = given
		if f.Audit != "" && f.Store == "" {
			settings.Store = place.Memory // the store here may not belong to the file
		}
		answer, explanation, err := show.Explain(ctx, &p, settings)
		if err != nil {
			return err
		}
		return format.Print(s.Out, show.json(explanation), show.text(answer, explanation))
	}
	return cmd
}

// show is one proposal as records have it.
type show struct {
	log      *records.Log
	rows     []records.Row
	Decision *records.Row
	args     []byte // nil: not kept
	redacted []string
	changed  bool             // since they were stored
	Data     jsonstream.Value // of the session, not valid if it is not known
	// looked reports that rules look at the session's data.
	looked bool
	// Gone lists the facts of the call's setting that are not known any more; Differs explains
	// why the verdict is another one now, "" if it is not.
	Gone    []string
	Differs string
}

func NewShow(ctx context.Context, log *records.Log, rows []records.Row) (show, error) {
	w := show{log: log, rows: rows}
	for i := range rows {
		if rows[i].Kind == stopgate.RecordDecision {
			w.Decision = &rows[i]
		}
	}
	if w.Decision == nil {
		return w, nil
	}
	kept, ok, err := log.Arguments(ctx, &w.Decision.Record)
	if ok {
		w.args, w.redacted, w.changed = kept.Text, kept.Redacted, kept.Changed
	}
	return w, err
}

// Explain judges the call again, if the policy is the one that decided.
func (w *show) Explain(ctx context.Context, p *inputs.Policy, settings place.Settings) (dryrun.Answer, *eval.Explanation, error) {
	if w.Decision == nil || w.args == nil || w.redacted != nil || w.changed {
		return dryrun.Answer{}, nil, nil
	}
	r := &w.Decision.Record
	was := settingOf(r, w.args, config.Account{})
	l, ok := was.load(p, r)
	if !ok {
		return dryrun.Answer{}, nil, nil
	}
	if w.looked = l.Program.LooksAtSessions(); w.looked {
		if !w.Data.IsValid() {
			then, ok, err := dataThen(ctx, settings, r)
			if err != nil {
				return dryrun.Answer{}, nil, err
			}
			if ok {
				w.Data = then
			}
		}
		w.Data = was.then(r, w.Data)
	}
	call := was.callOf(r, w.args, l.Tools)
	var texts flow.View
	if reader := l.Program.Reader(); reader != nil {
		kept := keptTexts{log: w.log}
		var missing string
		var err error
		if texts, missing, err = kept.view(ctx, reader, r.Texts); err != nil {
			return dryrun.Answer{}, nil, err
		}
		if missing != "" && (len(r.Origins) > 0 || dependsOnTexts(l.Program, call, w.args)) {
			was.gone = append(was.gone, missing+": conditions on where values come from are in doubt")
		}
	}
	evaluation := l.Program.BindUnder(call, eval.Circumstances{Situation: l.Program.Situation(call.Groups, w.Data, texts)}).EvaluateWith(texts)
	evaluation.Feed(w.args)
	verdict := evaluation.Close(stopgate.Ended)
	x := evaluation.Explain()
	w.Gone = was.gone
	if said, ok := ruled(r); ok && said.Mode != verdict.Mode {
		w.Differs = differs(r, said.Mode, verdict)
	}
	answer := dryrun.NewAnswer(call, verdict, len(w.args))
	answer.Bundle = l.Program.Bundle(call.Session)
	return answer, &x, nil
}

// differs explains why the rules, evaluated again, may give another verdict than a row.
func differs(r *stopgate.Record, said stopgate.Mode, v stopgate.Verdict) string {
	why := "files, links or what is known of the tool may have changed since"
	if r.Layer != stopgate.LayerRules && r.Layer != stopgate.LayerGuard {
		why = fmt.Sprintf("the record's is of the layer %s, which is not judged again", r.Layer)
	}
	return fmt.Sprintf("judged again the rules say %s (%s), and the record says %s: %s", v.Mode, v.Code, said, why)
}

func (w show) json(x *eval.Explanation) showJSON {
	out := showJSON{ID: w.rows[0].ID, Redacted: w.redacted, Changed: w.changed}
	for _, r := range w.rows {
		out.Rows = append(out.Rows, r.Line)
	}
	if w.args != nil {
		text := string(w.args)
		out.Arguments = &text
	}
	if x != nil {
		out.Lists, out.Gone, out.Differs = x.Lists, w.Gone, w.Differs
		if w.looked && w.Data.IsValid() {
			out.Data = json.RawMessage(w.Data.Raw())
		}
	}
	return out
}

func (w show) text(a dryrun.Answer, x *eval.Explanation) string {
	var b strings.Builder
	for _, r := range w.rows {
		b.WriteString(rowText(&r.Record, "") + "\n")
	}
	if w.Decision != nil {
		w.decisionText(&b, &w.Decision.Record)
	}
	switch {
	case x != nil:
		b.WriteString("\n" + dryrun.ExplainText(a, *x))
		b.WriteString(w.DifferenceText())
		switch {
		case w.looked && w.Data.IsValid():
			fmt.Fprintf(&b, "\nRules look at the session's data: %s\n", visible.Lines(visible.Elide(string(w.Data.Raw()), 4000)))
		case w.looked:
			b.WriteString("\nRules look at the session's data, which nobody knows here: they are in doubt. Give it with --session-data.\n")
		}
	case w.Decision != nil:
		b.WriteString("\nNo explanation rule by rule: the policy here is another one, or the arguments are not whole.\n")
	}
	return b.String()
}

func (w show) decisionText(b *strings.Builder, r *stopgate.Record) {
	b.WriteByte('\n')
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "  %-11s%s\n", name, fmt.Sprintf(format, args...))
	}
	mode := stopgate.Deny
	if r.Mode != nil {
		mode = *r.Mode
	}
	line("verdict", "%s by the layer %s: %s (%s)", mode, r.Layer, visible.Text(r.Code.Public()), r.Code)
	if r.Rule != nil {
		line("rule", "%s:%d  %s", visible.Text(r.Rule.File), r.Rule.Line, visible.Text(string(r.Rule.ID)))
	}
	if r.Pointer != "" {
		line("argument", "%s", visible.Text(r.Pointer))
	}
	if r.Segment != nil {
		line("command", "%s", visible.Part(r.Segment.Index, r.Segment.Of, ""))
	}
	if r.DecidedAt != nil {
		line("decided", "at byte %d of %d", *r.DecidedAt, r.ArgsBytes)
	}
	for _, floor := range r.Floors {
		line("floor", "%s %s at byte %d%s", floor.Mode, floor.Code, floor.At, dryrun.AtPointer(floor.Pointer))
	}
	for _, o := range r.Objections {
		line("objection", "%s", visible.Text(o))
	}
	for _, o := range r.Origins {
		line("origin", "%s", visible.Text(o.Sentence("")))
	}
	if r.Texts != nil {
		line("texts", "%d of the log %s", r.Texts.Number, visible.Text(r.Texts.Log))
	}
	if r.Judge != nil {
		line("judge", "%s", reviewText(r.Judge))
	}
	for i := range r.External {
		line("external", "%s", externalText(&r.External[i]))
	}
	switch {
	case r.Approval == nil:
	case isReferred(r):
		line("approval", "left to %s: the answer is not heard here, only a result shows that the call ran", visible.Text(r.Approval.By))
	default:
		line("approval", "%s by %s", visible.Text(r.Approval.ID), visible.Text(r.Approval.By))
	}
	if r.Cause != "" {
		line("cause", "%s", visible.Text(r.Cause))
	}
	line("policy", "%s", visible.Text(r.Policy))
	if r.Bundle != nil {
		line("bundle", "%s", dryrun.BundleText(r.Bundle))
	}
	switch {
	case w.args == nil:
		line("arguments", "not kept")
	case w.changed:
		line("arguments", "CHANGED since they were stored: they have another hash than the row names")
		line("now", "%s", visible.Lines(visible.Elide(string(w.args), 4000)))
	case w.redacted != nil:
		line("arguments", "%s", visible.Lines(visible.Elide(string(w.args), 4000)))
		line("redacted", "%s", visible.Text(strings.Join(w.redacted, " ")))
	default:
		line("arguments", "%s", visible.Lines(visible.Elide(string(w.args), 4000)))
	}
}
