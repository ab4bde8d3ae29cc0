package dryrun

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/trial"
	"github.com/stopgate/stopgate/internal/visible"
)

// Answer is an answer with its text for people and its exit code.
type Answer struct{ trial.Answer }

// Rule is the location of a rule.
type Rule = trial.Rule

// NewAnswer is the answer of a verdict on a call with size bytes of arguments.
func NewAnswer(call stopgate.Call, v stopgate.Verdict, size int) Answer {
	return Answer{trial.NewAnswer(call, v, size)}
}

// Text is the answer for people.
func (a Answer) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s)\n", a.Mode, visible.Text(a.Public), a.Code)
	switch {
	case a.Rule == nil, a.Layer != stopgate.LayerGuard && a.Layer != stopgate.LayerRules:
		fmt.Fprintf(&b, "  layer     %s\n", a.Layer)
	case a.Layer == stopgate.LayerGuard:
		fmt.Fprintf(&b, "  guard     %s:%d, guard %d of the file\n", visible.Text(a.Rule.File), a.Rule.Line, a.Rule.Index+1)
	default:
		fmt.Fprintf(&b, "  rule      %s:%d, rule %d of its list\n", visible.Text(a.Rule.File), a.Rule.Line, a.Rule.Index+1)
	}
	if a.Pointer != "" {
		fmt.Fprintf(&b, "  argument  %s\n", visible.Text(a.Pointer))
	}
	if a.Cause != "" {
		fmt.Fprintf(&b, "  cause     %s\n", visible.Text(a.Cause))
	}
	if a.Segment != nil {
		fmt.Fprintf(&b, "  command   %s\n", visible.Part(a.Segment.Index, a.Segment.Of, a.Segment.Text))
	}
	if a.Reading != "" {
		fmt.Fprintf(&b, "  read as   %s\n", visible.Text(visible.Elide(a.Reading, 200)))
	}
	fmt.Fprintf(&b, "  decided   at byte %d of %d\n", a.DecidedAt, a.Bytes)
	switch {
	case len(a.MayDiffer) > 0:
		fmt.Fprintf(&b, "  surface   %s\n", a.mayDiffer())
	case a.As != "":
		fmt.Fprintf(&b, "  surface   %s\n", a.As)
	}
	if a.Untrusted != "" {
		fmt.Fprintf(&b, "  untrusted %s: its \"unattended\" counts as \"ask\"; trust it with: stopgate trust %s\n",
			visible.Text(a.Untrusted), visible.ShellWord(a.Untrusted))
	}
	if a.Bundle != nil {
		fmt.Fprintf(&b, "  bundle    %s\n", BundleText(a.Bundle))
	}
	if a.Judge {
		b.WriteString("  judge     reviews this call too; it was not asked\n")
	}
	for _, name := range a.External {
		fmt.Fprintf(&b, "  external  %s decides about this call too; it was not asked\n", name)
	}
	return b.String()
}

// BundleText is a policy bundle for people.
func BundleText(b *stopgate.Bundle) string {
	return fmt.Sprintf("generation %d, sha256 %s", b.Generation, visible.Text(b.Digest))
}

// Status is the exit code. Neither a person nor a judge nor an external policy was asked.
func (a Answer) Status() error {
	switch {
	case a.Mode == stopgate.Unattended && !a.Judge && len(a.External) == 0:
		return nil
	case a.Mode == stopgate.Unattended, a.Mode == stopgate.Ask, a.Mode == stopgate.Edit:
		return cli.Exit(cli.ExitUndecided)
	}
	return cli.Exit(cli.ExitDenied)
}
