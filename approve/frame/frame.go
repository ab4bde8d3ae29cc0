// Package frame says what a person is shown of a question, whether at a terminal or on
// a page: what would run, and why somebody is asked.
//
//	f := frame.Of(entry, time.Now(), false)
//	fmt.Println(f.Who, "wants to run", f.Tool)
//
// What it promises: every text is one line that is safe to print. What a model, a tool
// or a client wrote is rendered injectively - two values that differ look different -
// and nothing of it moves, colours or hides what stands beside it (THREATS H14). Long
// values are cut in the middle, with their length and a hash, unless all is asked for.
package frame

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

// Frame is a question as a person sees it. All of it is safe to print.
type Frame struct {
	Who  string // the agent, and its session
	Tool string
	// Values are the arguments, nil while they are still arriving: Received says how
	// far they are.
	Values   []Value
	Received string
	Because  string   // why somebody is asked
	Edit     bool     // the policy wants a person to look at the arguments in an editor
	Rule     string   // file, line and pointer, "" where no rule asked
	Floors   []string // what else raised the question
	ID       string
	Asked    string // how long ago
	Left     string // how long an answer counts
	// Late says that the call has stopped waiting: a yes counts when it is repeated.
	Late bool
}

// Value is one value of the arguments.
type Value struct {
	Label string // its pointer; "" for the whole arguments
	Text  string
	// Rest says how long the whole value is and what it hashes to, where Text is not
	// all of it.
	Rest string
}

// maxShown is how many characters of one value are shown before the person asks for
// everything.
const maxShown = 400

// Of describes a question. all shows long values in full.
func Of(e approve.Entry, now time.Time, all bool) Frame {
	f := Frame{
		Who: who(e), Tool: visible.Text(string(e.Tool)), Because: visible.Text(e.Public), Edit: e.Mode == stopgate.Edit, Rule: rule(e), ID: visible.Text(e.ID),
		Asked: Span(now.Sub(e.Asked)), Left: Span(e.Expires.Sub(now)), Late: !e.Until.IsZero() && e.Until.Before(now),
	}
	switch {
	case !e.Complete:
		f.Received = size(e.Received)
	case len(e.Leaves) == 0:
		f.Values = []Value{value(gate.Leaf{JSON: e.Args}, all)}
	default:
		for _, l := range e.Leaves {
			v := value(l, all)
			v.Label = label(l)
			f.Values = append(f.Values, v)
		}
	}
	for _, floor := range e.Floors {
		f.Floors = append(f.Floors, strings.TrimSpace(floor.Code.Public()+" "+visible.Text(floor.Pointer)))
	}
	return f
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
	return visible.Text(l.Pointer)
}

// value shows a JSON text on one line. What is long is cut in the middle.
func value(l gate.Leaf, all bool) Value {
	text := visible.Text(l.JSON)
	// The quotes and escapes of JSON are ASCII and were plain before.
	text = strings.ReplaceAll(text, `\\`, `\`)
	short := visible.Elide(text, maxShown)
	if all || short == text {
		return Value{Text: text}
	}
	sum := sha256.Sum256([]byte(l.JSON))
	return Value{Text: short, Rest: fmt.Sprintf("%s, sha256 %x", size(int64(len(l.JSON))), sum[:4])}
}

func rule(e approve.Entry) string {
	if e.Rule == nil {
		return ""
	}
	where := fmt.Sprintf("%s:%d", visible.Text(e.Rule.File), e.Rule.Line)
	if e.Pointer != "" {
		where += ", " + visible.Text(e.Pointer)
	}
	if e.Segment != nil {
		where += ", command " + visible.Part(e.Segment.Index, e.Segment.Of, e.Segment.Text)
	}
	return where
}

func size(n int64) string {
	if n < 10_000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f KB", float64(n)/1000)
}

// Span is a duration as people say it.
func Span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}
