package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/approve/frame"
)

// Frame renders a question for a terminal: the call and the reason of the question. all shows long
// values in full.
func Frame(e approve.Entry, now time.Time, all bool) string { return lines(frame.Of(e, now, all)) }

// lines renders a frame: first the tool, then its values, then the other facts.
func lines(f frame.Frame) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s wants to run  %s", f.Who, f.Tool)
	if f.At != "" {
		fmt.Fprintf(&b, "  at %s", f.At)
	}
	b.WriteString(alike(f.Alike) + "\n\n")
	width := 0
	for _, v := range f.Values {
		width = max(width, min(24, len([]rune(v.Label))))
	}
	for _, v := range f.Values {
		b.WriteString("    ")
		if v.Label != "" {
			fmt.Fprintf(&b, "%-*s  ", width, v.Label)
		}
		b.WriteString(v.Text)
		if v.Rest != "" {
			fmt.Fprintf(&b, "  (%s)", v.Rest)
		}
		b.WriteString(alike(v.Alike) + "\n")
	}
	if f.Values == nil {
		fmt.Fprintf(&b, "    its arguments are still arriving, %s so far:\n    until they are complete only a no is possible\n", f.Received)
	}
	fmt.Fprintf(&b, "\nbecause   %s", f.Because)
	if f.Rule != "" {
		fmt.Fprintf(&b, "  (%s)", f.Rule)
	}
	for _, floor := range f.Floors {
		fmt.Fprintf(&b, "\n          %s", floor)
	}
	if f.Edit {
		b.WriteString("\n          the policy wants you to look at the arguments in an editor")
	}
	fmt.Fprintf(&b, "\nquestion  %s, asked %s ago, can be answered for %s", f.ID, f.Asked, f.Left)
	if f.Late {
		b.WriteString("\n          the call has stopped waiting: a yes counts when it is repeated")
	}
	b.WriteString("\n")
	return b.String()
}

// alike warns of a character that looks like another one.
func alike(warning string) string {
	if warning == "" {
		return ""
	}
	return "  <-- " + warning
}
