// Package frame describes a question for a person, at a terminal or on a page: the call, and the
// reason of the question.
//
//	f := frame.Of(entry, time.Now(), false)
//	fmt.Println(f.Who, "wants to run", f.Tool)
//
// Guarantees: every text is one line that is safe to print. Text from a model, a tool or a client
// is rendered injectively - different values look different - and cannot move, colour or hide other
// text (H14). Long values are cut in the middle, with their length and a hash, unless all is
// requested.
package frame

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/visible"
)

// Frame is a question for display. All its texts are safe to print.
type Frame struct {
	Who  string // the agent, and its session
	Tool string
	// At is the server of the tool, "" if it is unknown.
	At string
	// Alike names a character of the tool's name that looks like another one, or is "".
	Alike string
	// Values are the arguments, nil while they are still arriving; Received is their size so far.
	Values   []Value
	Received string
	Because  string   // reason of the question
	Edit     bool     // the policy requires the person to edit the arguments
	Rule     string   // file, line and pointer, "" where no rule asked
	Floors   []string // other reasons of the question
	ID       string
	Asked    string // how long ago
	Left     string // how long an answer is accepted
	// Hides reports that a value that may name a target of the call is not shown in full, so that
	// the person cannot know its effect. The content of a file is not such a value.
	Hides bool
	// Late reports that the call has stopped waiting: a yes counts when it is repeated.
	Late bool
}

// Value is one value of the arguments.
type Value struct {
	Label string // its pointer; "" for the whole arguments
	Text  string
	// Rest is the length and the hash of the value, if Text is only a part of it.
	Rest string
	// Alike names a character that looks like another one, or is "".
	Alike string
}

// maxName bounds the displayed characters of a name.
const maxName = 120

// Displayed characters of one value unless all is requested: of content, and of values that may
// name a target.
const (
	maxContent = 400
	maxTarget  = 2000
)

// Of describes a question. all shows long values in full.
func Of(e approve.Entry, now time.Time, all bool) Frame {
	f := Frame{
		Who: who(e), At: visible.Text(string(e.Server)), Alike: alike(string(e.Tool)), Because: reason(e), Edit: e.Mode == stopgate.Edit, Rule: rule(e), ID: visible.Text(e.ID),
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
	case e.Args == "" && len(e.Leaves) == 0: // removed from the store
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
	for _, missing := range e.Missing {
		f.Floors = append(f.Floors, visible.Elide(visible.Text(missing), maxTarget))
	}
	f.Floors = append(f.Floors, origins(e.Origins)...)
	f.Floors = append(f.Floors, requirement(e)...)
	for _, floor := range e.Floors {
		f.Floors = append(f.Floors, strings.TrimSpace(floor.Code.Public()+" "+visible.Text(floor.Pointer)))
	}
	return f
}

// maxOrigins limits the sentences about the origin of values.
const maxOrigins = 6

// origins returns a sentence for each value that is not from the sources that a condition wants.
func origins(all []stopgate.Origin) (sentences []string) {
	for _, o := range all {
		text := visible.Elide(visible.Text(o.Sentence("")), maxTarget)
		if o.Held || slices.Contains(sentences, text) {
			continue
		}
		if len(sentences) == maxOrigins {
			return append(sentences, "and more")
		}
		sentences = append(sentences, text)
	}
	return sentences
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

// reason returns the reason of the question: that of the policy, or that of the code.
func reason(e approve.Entry) string {
	if e.Public == "" || e.Public == stopgate.CodeRuleMatched.Public() { // it does not help a person to decide
		return "a rule of the policy wants a person to look at it"
	}
	return visible.Text(e.Public)
}

// value formats a JSON text on one line. It cuts long values in the middle.
func (f *Frame) value(l gate.Leaf, all bool) Value {
	limit := maxTarget
	if approve.Content(l) {
		limit = maxContent
	}
	text := visible.Text(l.JSON)
	// The quotes and escapes of JSON are ASCII and need no escaping.
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

// Span formats a duration for people.
func Span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}
