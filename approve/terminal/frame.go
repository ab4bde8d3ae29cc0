package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/approve/frame"
)

// Frame renders a question for a person at a terminal: what would run, and why
// somebody is asked. all shows long values in full.
func Frame(e approve.Entry, now time.Time, all bool) string {
	f := frame.Of(e, now, all)
	var b strings.Builder
	fmt.Fprintf(&b, "%s wants to run  %s\n", f.Who, f.Tool)
	width := 0
	for _, v := range f.Values {
		width = max(width, min(24, len([]rune(v.Label))))
	}
	for _, v := range f.Values {
		b.WriteString("  ")
		if v.Label != "" {
			fmt.Fprintf(&b, "%-*s  ", width, v.Label)
		}
		b.WriteString(v.Text)
		if v.Rest != "" {
			fmt.Fprintf(&b, "  (%s)", v.Rest)
		}
		b.WriteString("\n")
	}
	if f.Values == nil {
		fmt.Fprintf(&b, "  its arguments are still arriving, %s so far: only n and r are possible yet\n", f.Received)
	}
	fmt.Fprintf(&b, "because  %s", f.Because)
	if f.Edit {
		b.WriteString(" (the policy wants you to look at the arguments in an editor: e)")
	}
	if f.Rule != "" {
		fmt.Fprintf(&b, "  [%s]", f.Rule)
	}
	for _, floor := range f.Floors {
		fmt.Fprintf(&b, "\n         %s", floor)
	}
	fmt.Fprintf(&b, "\nquestion %s, asked %s ago, answerable for %s", f.ID, f.Asked, f.Left)
	if f.Late {
		b.WriteString("; the call has stopped waiting, a yes counts when it is repeated")
	}
	b.WriteString("\n")
	return b.String()
}
