package terminal

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/visible"
)

// maxShown is how many characters of one value are shown before the person asks for
// everything.
const maxShown = 400

// Frame renders a question for a person: what would run, and why somebody is asked.
// all shows long values in full.
func Frame(e approve.Entry, now time.Time, all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s wants to run  %s\n", who(e), visible.Text(string(e.Tool)))
	switch {
	case !e.Complete:
		fmt.Fprintf(&b, "  its arguments are still arriving, %s so far: only n and r are possible yet\n", size(e.Received))
	case len(e.Leaves) == 0:
		fmt.Fprintf(&b, "  %s\n", value(e.Args, all))
	default:
		width := 0
		for _, l := range e.Leaves {
			width = max(width, min(24, len([]rune(visible.Text(label(l))))))
		}
		for _, l := range e.Leaves {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, visible.Text(label(l)), value(l.JSON, all))
		}
	}
	fmt.Fprintf(&b, "because  %s\n", because(e))
	fmt.Fprintf(&b, "question %s, asked %s ago, answerable for %s", e.ID, rough(now.Sub(e.Asked)), rough(e.Expires.Sub(now)))
	if !e.Until.IsZero() && e.Until.Before(now) {
		b.WriteString("; the call has stopped waiting, a yes counts when it is repeated")
	}
	b.WriteString("\n")
	return b.String()
}

func who(e approve.Entry) string {
	name := "a model"
	if e.Agent != "" {
		name = visible.Text(string(e.Agent))
	}
	if e.Session != "" {
		name += " (session " + visible.Elide(visible.Text(string(e.Session)), 24) + ")"
	}
	return name
}

func label(l gate.Leaf) string {
	if l.Pointer == "" {
		return "(all)"
	}
	return l.Pointer
}

// value shows a JSON text on one line. What is long is cut in the middle, with its
// length and a hash that differs when the hidden part does.
func value(json string, all bool) string {
	text := visible.Text(json)
	// The quotes and escapes of JSON are ASCII and were plain before.
	text = strings.ReplaceAll(text, `\\`, `\`)
	short := visible.Elide(text, maxShown)
	if all || short == text {
		return text
	}
	sum := sha256.Sum256([]byte(json))
	return fmt.Sprintf("%s  (%s, sha256 %x)", short, size(int64(len(json))), sum[:4])
}

func because(e approve.Entry) string {
	why := visible.Text(e.Public)
	if e.Mode == stopgate.Edit {
		why += " (the policy wants you to look at the arguments in an editor: e)"
	}
	if e.Rule != nil {
		why += fmt.Sprintf("  [%s:%d", visible.Text(e.Rule.File), e.Rule.Line)
		if e.Pointer != "" {
			why += ", " + visible.Text(e.Pointer)
		}
		why += "]"
	}
	for _, f := range e.Floors {
		why += fmt.Sprintf("\n         %s %s", f.Code.Public(), visible.Text(f.Pointer))
	}
	return why
}

func size(n int64) string {
	if n < 10_000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f KB", float64(n)/1000)
}

// rough is a duration as people say it.
func rough(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}
