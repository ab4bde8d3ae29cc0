// Package frame says what a person is shown of a question, whether at a terminal or on
// a page: what would run, and why somebody is asked.
//
//	f := frame.Of(entry, time.Now(), false)
//	fmt.Println(f.Who, "wants to run", f.Tool)
//
// What it promises: every text is one line that is safe to print. What a model, a tool
// or a client wrote is rendered injectively - two values that differ look different -
// and nothing of it moves, colours or hides what stands beside it (H14). Long
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
	// At is the server that has the tool, "" if it is not known.
	At string
	// Alike says which character of the tool's name passes for another one, "" for none.
	Alike string
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
	// Hides says that a value is not shown in full that may name what the call touches: a
	// person who has not seen all of it cannot know what runs. The content of a file is no
	// such value.
	Hides bool
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
	// Alike says which character passes for another one, "" for none.
	Alike string
}

// maxName is how many characters of a name are shown.
const maxName = 120

// How many characters of one value are shown before the person asks for everything: of
// content, and of what may name what the call touches.
const (
	maxContent = 400
	maxTarget  = 2000
)

// Of describes a question. all shows long values in full.
func Of(e approve.Entry, now time.Time, all bool) Frame {
	f := Frame{
		Who: who(e), At: visible.Text(string(e.Server)), Alike: alike(string(e.Tool)), Because: because(e), Edit: e.Mode == stopgate.Edit, Rule: rule(e), ID: visible.Text(e.ID),
		Asked: Span(now.Sub(e.Asked)), Left: Span(e.Expires.Sub(now)), Late: !e.Until.IsZero() && e.Until.Before(now),
	}
	if f.Tool = visible.Text(string(e.Tool)); !all {
		tool, at := visible.Elide(f.Tool, maxName), visible.Elide(f.At, maxName)
		f.Hides = tool != f.Tool || at != f.At
		f.Tool, f.At = tool, at
	}
	switch {
	case !e.Complete:
		f.Received = size(e.Received)
	case e.Args == "" && len(e.Leaves) == 0: // the store forgot them
		f.Values = []Value{{Text: "(the arguments are not kept)"}}
	case len(e.Leaves) == 0:
		f.Values = []Value{f.value(gate.Leaf{JSON: e.Args}, all)}
	default:
		for _, l := range e.Leaves {
			v := f.value(l, all)
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
		name = visible.Elide(visible.Text(string(e.Agent)), maxName)
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

// because is why somebody is asked: the policy's own reason, or what the code says.
func because(e approve.Entry) string {
	if e.Public == "" || e.Public == stopgate.CodeRuleMatched.Public() { // which says nothing to a person who has to decide
		return "a rule of the policy wants a person to look at it"
	}
	return visible.Text(e.Public)
}

// value shows a JSON text on one line. What is long is cut in the middle.
func (f *Frame) value(l gate.Leaf, all bool) Value {
	limit := maxTarget
	if approve.Content(l) {
		limit = maxContent
	}
	text := visible.Text(l.JSON)
	// The quotes and escapes of JSON are ASCII and were plain before.
	text = strings.ReplaceAll(text, `\\`, `\`)
	short, odd := visible.Elide(text, limit), ""
	if limit == maxTarget {
		odd = alike(l.JSON)
	}
	if all || short == text {
		return Value{Text: text, Alike: odd}
	}
	f.Hides = f.Hides || limit == maxTarget
	sum := sha256.Sum256([]byte(l.JSON))
	return Value{Text: short, Alike: odd, Rest: fmt.Sprintf("%s, sha256 %x", size(int64(len(l.JSON))), sum[:4])}
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
